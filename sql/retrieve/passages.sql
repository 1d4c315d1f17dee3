-- The documents that a question found, best first, each one row: its chunks that matched with text, place and the
-- arithmetic of their scores. A document that is gone comes back without external_id instead of vanishing.
-- param fused_place       integer[]
-- param fused_collection  bigint[]
-- param fused_document    bigint[]
-- param fused_ordinal     integer[]
-- param fused_score       float8[]
-- row   place, collection_id, document_id, external_id, title, text, metadata, hash, chunks, branches, found

WITH fused AS MATERIALIZED (
    /*fused*/
    SELECT
        f.place,
        f.collection_id,
        f.document_id,
        f.ordinal,
        f.fused_score,
        '[]'::jsonb AS parts,
        0::float8 AS prior,
        '[]'::jsonb AS branches,
        0 AS found
    FROM unnest(
        %(fused_place)s::integer [],
        %(fused_collection)s::bigint [],
        %(fused_document)s::bigint [],
        %(fused_ordinal)s::integer [],
        %(fused_score)s::float8 []
    ) AS f (place, collection_id, document_id, ordinal, fused_score)
    /*end*/
),

piece AS MATERIALIZED (
    /*chunks*/
    SELECT
        chunk.collection_id,
        chunk.document_id,
        chunk.ordinal,
        chunk.start_at,
        chunk.end_at,
        chunk.headings,
        chunk.text,
        chunk.context,
        NULL::jsonb AS around
    FROM pgbraid.chunk AS chunk
    INNER JOIN fused
        ON
            chunk.collection_id = fused.collection_id
            AND chunk.document_id = fused.document_id
            AND chunk.ordinal = fused.ordinal
    /*end*/
),

parent AS MATERIALIZED (
    /*parents*/
    SELECT
        document.collection_id,
        document.id AS document_id,
        document.external_id,
        document.title,
        document.text,
        document.metadata,
        document.hash
    FROM pgbraid.document AS document
    INNER JOIN (SELECT DISTINCT fused.collection_id, fused.document_id FROM fused) AS wanted
        ON document.collection_id = wanted.collection_id AND document.id = wanted.document_id
    /*end*/
),

passage AS (
    SELECT
        fused.place,
        fused.collection_id,
        fused.document_id,
        jsonb_agg(
            jsonb_build_object(
                'ordinal', fused.ordinal,
                'start', piece.start_at,
                'end', piece.end_at,
                'headings', piece.headings,
                'text', piece.text,
                'context', piece.context,
                'around', piece.around,
                'fused_score', fused.fused_score,
                'prior', fused.prior,
                'parts', fused.parts
            ) ORDER BY fused.fused_score DESC, fused.ordinal ASC
        ) AS chunks,
        (array_agg(fused.branches))[1] AS branches,
        min(fused.found) AS found
    FROM fused
    LEFT JOIN piece
        ON
            fused.collection_id = piece.collection_id
            AND fused.document_id = piece.document_id
            AND fused.ordinal = piece.ordinal
    GROUP BY fused.place, fused.collection_id, fused.document_id
)

SELECT
    passage.place,
    passage.collection_id,
    passage.document_id,
    parent.external_id,
    parent.title,
    parent.text,
    parent.metadata,
    parent.hash,
    passage.chunks,
    passage.branches,
    passage.found
FROM passage
LEFT JOIN parent
    ON passage.collection_id = parent.collection_id AND passage.document_id = parent.document_id
ORDER BY passage.place
