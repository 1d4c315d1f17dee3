-- Rank one collection's chunks by meaning with its HNSW index: approximate, and fast on many rows.
-- The inner query orders by the bare distance and nothing else, or the index is not used; ties are settled one level out.
-- param tenant     text
-- param vector     vector     made by the collection's embedder
-- param base       float8     1 for cosine, 0 otherwise: score is base minus distance, so more is better
-- param filter     jsonpath   null for none
-- param threshold  float8     null for none
-- param candidates integer
-- row   document_id, ordinal, rank, score, exact
-- plan  embedding_hnsw
-- hole  chunk relation
-- hole  ext schema
-- hole  nearest operator
-- hole  storage type
-- hole  dim integer

SELECT
    best.document_id,
    best.ordinal,
    (row_number() OVER (ORDER BY best.distance + 0, best.document_id, best.ordinal))::integer AS rank,
    %(base)s::float8 - best.distance AS score,
    false AS exact
FROM (
    SELECT
        chunk.document_id,
        chunk.ordinal,
        chunk.embedding::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)
        OPERATOR(/*ext*/ public./*nearest*/ <=>)
        %(vector)s::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384) AS distance
    FROM /*chunk*/ pgbraid.chunk AS chunk
    WHERE
        chunk.tenant = %(tenant)s::text
        AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
    ORDER BY
        chunk.embedding::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)
        OPERATOR(/*ext*/ public./*nearest*/ <=>)
        %(vector)s::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)
    LIMIT %(candidates)s::integer
) AS best
WHERE %(threshold)s::float8 IS NULL OR %(base)s::float8 - best.distance >= %(threshold)s::float8
