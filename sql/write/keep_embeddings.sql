-- Give staged chunks the embedding that the same text already has in the stored document.
-- param collection_id bigint
-- param tenant        text
-- hole  chunk relation

UPDATE pg_temp.pgbraid_chunk_stage AS stage
SET embedding = old.embedding
FROM /*chunk*/ pgbraid.chunk AS old
WHERE
    stage.embedding IS NULL
    AND old.collection_id = %(collection_id)s::bigint
    AND old.tenant = %(tenant)s::text
    AND old.document_id = stage.document_id
    AND old.hash = stage.hash
