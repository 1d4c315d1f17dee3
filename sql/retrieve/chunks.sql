-- Read chunks of one collection by their addresses.
-- param tenant       text
-- param collection   bigint
-- param document_ids bigint[]
-- param ordinals     integer[]
-- row   collection_id, document_id, ordinal, start_at, end_at, headings, text, context
-- hole  chunk relation

SELECT
    wanted.collection_id,
    chunk.document_id,
    chunk.ordinal,
    chunk.start_at,
    chunk.end_at,
    chunk.headings,
    chunk.text,
    chunk.context
FROM (
    /*wanted*/
    SELECT
        %(collection)s::bigint AS collection_id,
        w.document_id,
        w.ordinal
    FROM unnest(%(document_ids)s::bigint [], %(ordinals)s::integer []) AS w (document_id, ordinal)
    /*end*/
) AS wanted
INNER JOIN /*chunk*/ pgbraid.chunk AS chunk
    ON wanted.document_id = chunk.document_id AND wanted.ordinal = chunk.ordinal
WHERE
    wanted.collection_id = %(collection)s::bigint
    AND chunk.collection_id = %(collection)s::bigint
    AND chunk.tenant = %(tenant)s::text
