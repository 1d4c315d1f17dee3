-- Read chunks of one collection by their addresses.
-- param tenant       text
-- param collection   bigint
-- param document_ids bigint[]
-- param ordinals     integer[]
-- param neighbours   boolean    whether the reranker reads the chunks before and after too
-- row   collection_id, document_id, ordinal, start_at, end_at, headings, text, context, around
-- hole  chunk relation

SELECT
    wanted.collection_id,
    chunk.document_id,
    chunk.ordinal,
    chunk.start_at,
    chunk.end_at,
    chunk.headings,
    chunk.text,
    chunk.context,
    CASE
        WHEN %(neighbours)s::boolean THEN (
            SELECT jsonb_build_array(min(near.start_at), max(near.end_at))
            FROM /*chunk*/ pgbraid.chunk AS near
            WHERE
                near.collection_id = %(collection)s::bigint
                AND near.tenant = %(tenant)s::text
                AND near.document_id = chunk.document_id
                AND near.ordinal BETWEEN chunk.ordinal - 1 AND chunk.ordinal + 1
        )
    END AS around
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
