-- Send the chunks of a batch to their stage.

COPY pg_temp.pgbraid_chunk_stage (
    document_id, ordinal, start_at, end_at, hash, headings, metadata, context, text, text_config, embedding
)
FROM STDIN (FORMAT BINARY)
