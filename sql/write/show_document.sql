-- One document with its chunks.
-- param collection  bigint
-- param tenant      text
-- param document_id bigint
-- row   id, external_id, title, text, metadata, created_at, updated_at, chunks
-- hole  document relation
-- hole  chunk relation

SELECT
    document.id,
    document.external_id,
    document.title,
    document.text,
    document.metadata,
    document.created_at,
    document.updated_at,
    coalesce((
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'ordinal', chunk.ordinal,
                    'start', chunk.start_at,
                    'end', chunk.end_at,
                    'headings', chunk.headings,
                    'context', chunk.context,
                    'text', chunk.text
                ) ORDER BY chunk.ordinal
            )
        FROM /*chunk*/ pgbraid.chunk AS chunk
        WHERE
            chunk.collection_id = %(collection)s::bigint
            AND chunk.tenant = %(tenant)s::text
            AND chunk.document_id = document.id
    ), '[]'::jsonb) AS chunks
FROM /*document*/ pgbraid.document AS document
WHERE
    document.collection_id = %(collection)s::bigint
    AND document.tenant = %(tenant)s::text
    AND document.id = %(document_id)s::bigint
