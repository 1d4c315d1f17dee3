-- Lock documents in key order, before they are removed.
-- param collection_id bigint
-- param tenant        text
-- param document_ids  bigint[]
-- row   id
-- hole  document relation

SELECT d.id
FROM /*document*/ pgbraid.document AS d
WHERE
    d.collection_id = %(collection_id)s::bigint
    AND d.tenant = %(tenant)s::text
    AND d.id = ANY(%(document_ids)s::bigint [])
ORDER BY d.id
FOR UPDATE
