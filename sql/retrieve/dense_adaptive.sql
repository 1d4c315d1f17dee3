-- Rank a filtered or tenant's part of one collection by meaning: exactly when the part is small, by the HNSW index when it is
-- large. The part is counted up to the limit first; only one of the two ways then runs.
-- param collection  bigint
-- param tenant      text
-- param vector      vector     made by the collection's embedder
-- param base        float8     1 for cosine, 0 otherwise: score is base minus distance, so more is better
-- param filter      jsonpath   null for none
-- param threshold   float8     null for none
-- param candidates  integer
-- param exact_below integer    rows up to which every one is compared
-- row   document_id, ordinal, rank, score, exact
-- hole  chunk relation
-- hole  ext schema
-- hole  nearest operator
-- hole  storage type
-- hole  dim integer

WITH part AS MATERIALIZED (
    SELECT
        chunk.document_id,
        chunk.ordinal
    FROM /*chunk*/ pgbraid.chunk AS chunk
    WHERE
        chunk.collection_id = %(collection)s::bigint
        AND chunk.tenant = %(tenant)s::text
        AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
    LIMIT %(exact_below)s::integer + 1
),

near AS (
    (
        SELECT
            part.document_id,
            part.ordinal,
            (chunk.embedding OPERATOR(/*ext*/ public./*nearest*/ <=>) %(vector)s::/*ext*/ public.vector) + 0 AS distance,
            true AS exact
        FROM part
        INNER JOIN /*chunk*/ pgbraid.chunk AS chunk
            ON
                part.document_id = chunk.document_id
                AND part.ordinal = chunk.ordinal
                AND chunk.collection_id = %(collection)s::bigint
                AND chunk.tenant = %(tenant)s::text
        WHERE (SELECT count(*) FROM part) <= %(exact_below)s::integer
        ORDER BY distance, part.document_id, part.ordinal
        LIMIT %(candidates)s::integer
    )
    UNION ALL
    (
        SELECT
            chunk.document_id,
            chunk.ordinal,
            chunk.embedding::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)
            OPERATOR(/*ext*/ public./*nearest*/ <=>)
            %(vector)s::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384) AS distance,
            false AS exact
        FROM /*chunk*/ pgbraid.chunk AS chunk
        WHERE
            (SELECT count(*) FROM part) > %(exact_below)s::integer
            AND chunk.collection_id = %(collection)s::bigint
            AND chunk.tenant = %(tenant)s::text
            AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
        ORDER BY
            chunk.embedding::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)
            OPERATOR(/*ext*/ public./*nearest*/ <=>)
            %(vector)s::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)
        LIMIT %(candidates)s::integer
    )
)

SELECT
    near.document_id,
    near.ordinal,
    (row_number() OVER (ORDER BY near.distance + 0, near.document_id, near.ordinal))::integer AS rank,
    %(base)s::float8 - near.distance AS score,
    near.exact
FROM near
WHERE %(threshold)s::float8 IS NULL OR %(base)s::float8 - near.distance >= %(threshold)s::float8
