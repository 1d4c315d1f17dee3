-- Rank one collection's chunks by meaning, comparing every one of them. "+ 0" keeps the vector index out, "|| ''" the key's index,
-- which would fetch the same rows one by one.
-- param tenant     text
-- param vector     vector     made by the collection's embedder
-- param base       float8     1 for cosine, 0 otherwise: score is base minus distance, so more is better
-- param filter     jsonpath   null for none
-- param threshold  float8     null for none
-- param candidates integer
-- row   document_id, ordinal, rank, score, exact
-- hole  chunk relation
-- hole  ext schema
-- hole  nearest operator

SELECT
    best.document_id,
    best.ordinal,
    (row_number() OVER (ORDER BY best.distance, best.document_id, best.ordinal))::integer AS rank,
    %(base)s::float8 - best.distance AS score,
    true AS exact
FROM (
    SELECT
        chunk.document_id,
        chunk.ordinal,
        (chunk.embedding OPERATOR(/*ext*/ public./*nearest*/ <=>) %(vector)s::/*ext*/ public.vector) + 0 AS distance
    FROM /*chunk*/ pgbraid.chunk AS chunk
    WHERE
        chunk.tenant || '' = %(tenant)s::text
        AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
    ORDER BY distance, chunk.document_id, chunk.ordinal
    LIMIT %(candidates)s::integer
) AS best
WHERE %(threshold)s::float8 IS NULL OR %(base)s::float8 - best.distance >= %(threshold)s::float8
