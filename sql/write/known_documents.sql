-- What is already stored of these documents: their hash, and the hashes of their chunks.
-- param collection   bigint
-- param tenant       text
-- param document_ids bigint[]
-- row   id, external_id, hash, chunk_hashes
-- hole  document relation
-- hole  chunk relation

SELECT
    document.id,
    document.external_id,
    document.hash,
    coalesce((
        SELECT array_agg(chunk.hash)
        FROM /*chunk*/ pgbraid.chunk AS chunk
        WHERE
            chunk.collection_id = %(collection)s::bigint
            AND chunk.tenant = %(tenant)s::text
            AND chunk.document_id = document.id
    ), '{}') AS chunk_hashes
FROM /*document*/ pgbraid.document AS document
WHERE
    document.collection_id = %(collection)s::bigint
    AND document.tenant = %(tenant)s::text
    AND document.id = ANY(%(document_ids)s::bigint [])
