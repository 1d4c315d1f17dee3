-- Send a batch of documents to its stage.

COPY pg_temp.pgbraid_document_stage (id, external_id, title, text, metadata, hash, chunk_count)
FROM STDIN (FORMAT BINARY)
