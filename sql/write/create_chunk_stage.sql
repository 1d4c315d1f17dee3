-- A place for the chunks of one batch; gone with the transaction. An embedding that the old chunk has is left out.
-- hole ext schema

CREATE TEMPORARY TABLE pgbraid_chunk_stage (
    document_id bigint NOT NULL,
    ordinal integer NOT NULL,
    start_at integer NOT NULL,
    end_at integer NOT NULL,
    hash bytea NOT NULL,
    headings text [] NOT NULL,
    metadata jsonb NOT NULL,
    context text NOT NULL,
    text text NOT NULL,
    text_config text NOT NULL,
    embedding /*ext*/ public.vector,
    words tsvector GENERATED ALWAYS AS (pgbraid.words_v1(text_config, context || E'\n' || text)) STORED
) ON COMMIT DROP
