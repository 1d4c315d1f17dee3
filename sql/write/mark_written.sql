-- Remember which staged documents were new or changed; the others' chunks stay as they are.
-- param document_ids bigint[]

UPDATE pg_temp.pgbraid_document_stage AS stage
SET written = true
WHERE stage.id = ANY(%(document_ids)s::bigint [])
