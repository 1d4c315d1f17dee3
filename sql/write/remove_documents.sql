-- Remove documents; their chunks go with them.
-- param collection_id bigint
-- param tenant        text
-- param document_ids  bigint[]
-- row   external_id
-- hole  document relation

DELETE FROM /*document*/ pgbraid.document AS d
WHERE
    d.collection_id = %(collection_id)s::bigint
    AND d.tenant = %(tenant)s::text
    AND d.id = ANY(%(document_ids)s::bigint [])
RETURNING d.external_id
