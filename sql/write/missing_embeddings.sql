-- Documents with a staged chunk that has no embedding: another writer changed them since they were looked at.
-- row document_id

SELECT DISTINCT stage.document_id
FROM pg_temp.pgbraid_chunk_stage AS stage
INNER JOIN pg_temp.pgbraid_document_stage AS document ON stage.document_id = document.id
WHERE document.written AND stage.embedding IS NULL
