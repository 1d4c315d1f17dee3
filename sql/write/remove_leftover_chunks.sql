-- Remove the chunks that a changed document no longer has.
-- param collection_id bigint
-- param tenant        text
-- hole  chunk relation

DELETE FROM /*chunk*/ pgbraid.chunk AS old
USING pg_temp.pgbraid_document_stage AS document
WHERE
    document.written
    AND old.collection_id = %(collection_id)s::bigint
    AND old.tenant = %(tenant)s::text
    AND old.document_id = document.id
    AND old.ordinal >= document.chunk_count
