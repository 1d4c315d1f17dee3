-- What each hit adds to the score of its chunk: its place between the worst (0) and the best (1) hit of its pool.
-- A pool holds the branches whose scores can be compared as they are: cosines of one embedder, BM25 with shared idf.
-- A pool without spread (one hit, or equal ones) gives each hit the whole weight.
-- param hit_branch    integer[]   the branch of each hit, numbered from 1
-- param hit_document  bigint[]
-- param hit_ordinal   integer[]
-- param hit_rank      integer[]
-- param hit_score     float8[]
-- param hit_exact     boolean[]
-- param branch_collection bigint[]  one per branch
-- param branch_weight float8[]    one per branch
-- param branch_pool   integer[]   one per branch
-- row   branch, collection_id, document_id, ordinal, rank, score, exact, contribution

WITH hit AS MATERIALIZED (
    /*hits*/
    SELECT
        h.branch,
        h.document_id,
        h.ordinal,
        h.rank,
        h.score,
        h.exact
    FROM unnest(
        %(hit_branch)s::integer [],
        %(hit_document)s::bigint [],
        %(hit_ordinal)s::integer [],
        %(hit_rank)s::integer [],
        %(hit_score)s::float8 [],
        %(hit_exact)s::boolean []
    ) AS h (branch, document_id, ordinal, rank, score, exact)
    /*end*/
),

branch AS MATERIALIZED (
    SELECT
        b.branch::integer AS branch,
        b.collection_id,
        b.pool,
        b.weight
    FROM unnest(
        %(branch_collection)s::bigint [],
        %(branch_pool)s::integer [],
        %(branch_weight)s::float8 []
    ) WITH ORDINALITY AS b (collection_id, pool, weight, branch)
),

pool AS MATERIALIZED (
    SELECT
        branch.pool,
        min(hit.score) AS worst,
        max(hit.score) - min(hit.score) AS spread
    FROM hit
    INNER JOIN branch ON hit.branch = branch.branch
    GROUP BY branch.pool
)

SELECT
    hit.branch,
    branch.collection_id,
    hit.document_id,
    hit.ordinal,
    hit.rank,
    hit.score,
    hit.exact,
    CASE
        WHEN pool.spread > 1e-9 THEN branch.weight * (hit.score - pool.worst) / pool.spread
        ELSE branch.weight
    END AS contribution
FROM hit
INNER JOIN branch ON hit.branch = branch.branch
INNER JOIN pool ON branch.pool = pool.pool
