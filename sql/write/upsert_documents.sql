-- Write the staged documents that are new or changed, in key order so that two writers cannot deadlock.
-- param collection_id bigint
-- param tenant        text
-- row   id, added
-- hole  document relation

INSERT INTO /*document*/ pgbraid.document AS d (
    collection_id, tenant, id, external_id, title, text, metadata, hash, chunk_count
)
SELECT
    %(collection_id)s::bigint AS collection_id,
    %(tenant)s::text AS tenant,
    stage.id,
    stage.external_id,
    stage.title,
    stage.text,
    stage.metadata,
    stage.hash,
    stage.chunk_count
FROM pg_temp.pgbraid_document_stage AS stage
ORDER BY stage.id
ON CONFLICT (collection_id, tenant, id) DO UPDATE
SET
    external_id = excluded.external_id,
    title = excluded.title,
    text = excluded.text,
    metadata = excluded.metadata,
    hash = excluded.hash,
    chunk_count = excluded.chunk_count,
    updated_at = now()
WHERE d.hash IS DISTINCT FROM excluded.hash AND d.external_id = excluded.external_id
RETURNING d.id, d.xmax = 0 AS added
