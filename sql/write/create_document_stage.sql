-- A place for one batch of documents; gone with the transaction.

CREATE TEMPORARY TABLE pgbraid_document_stage (
    id bigint PRIMARY KEY,
    external_id text NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    metadata jsonb NOT NULL,
    hash bytea NOT NULL,
    chunk_count integer NOT NULL,
    written boolean NOT NULL DEFAULT false
) ON COMMIT DROP
