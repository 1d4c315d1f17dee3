-- What each hit adds to the score of its chunk: weight / (k + rank), rank from 1 (reciprocal rank fusion; Cormack, Clarke and
-- Büttcher, SIGIR 2009). Needs no scores, so lists that know only an order can take part; pools do not matter.
-- param hit_branch    integer[]   the branch of each hit, numbered from 1
-- param hit_document  bigint[]
-- param hit_ordinal   integer[]
-- param hit_rank      integer[]
-- param hit_score     float8[]
-- param hit_exact     boolean[]
-- param branch_collection bigint[]  one per branch
-- param branch_weight float8[]    one per branch
-- param rrf_k         integer
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
        b.weight
    FROM unnest(
        %(branch_collection)s::bigint [],
        %(branch_weight)s::float8 []
    ) WITH ORDINALITY AS b (collection_id, weight, branch)
)

SELECT
    hit.branch,
    branch.collection_id,
    hit.document_id,
    hit.ordinal,
    hit.rank,
    hit.score,
    hit.exact,
    branch.weight / (%(rrf_k)s::integer + hit.rank)::float8 AS contribution
FROM hit
INNER JOIN branch ON hit.branch = branch.branch
