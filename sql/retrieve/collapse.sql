-- Add up what the branches gave each chunk, collapse chunks to their documents, and keep the best documents with every
-- chunk of theirs that matched. A document's score is its best chunk's. Total order: fused score, best rank, number of branches, key.
-- Where several collections are asked, each chunk gets its collection's evidence too: the logarithm of how well the collection's best
-- chunk matches the question's words, as a share of the best of all. It is 0 for the best collection and less for the others.
-- param part_branch       integer[]
-- param part_collection   bigint[]
-- param part_document     bigint[]
-- param part_ordinal      integer[]
-- param part_rank         integer[]
-- param part_score        float8[]
-- param part_exact        boolean[]
-- param part_contribution float8[]
-- param evidence_branch   integer[]  branches whose best scores say how likely it is that a collection has the answer
-- param evidence_weight   float8     what a share of e is worth, in the units of the contributions
-- param evidence_floor    float8     the least share of the best collection's score that counts
-- param documents         integer    how many documents to keep
-- row   place, collection_id, document_id, ordinal, fused_score, parts, prior, branches, found

WITH part AS MATERIALIZED (
    /*parts*/
    SELECT
        p.branch,
        p.collection_id,
        p.document_id,
        p.ordinal,
        p.rank,
        p.score,
        p.exact,
        p.contribution
    FROM unnest(
        %(part_branch)s::integer [],
        %(part_collection)s::bigint [],
        %(part_document)s::bigint [],
        %(part_ordinal)s::integer [],
        %(part_rank)s::integer [],
        %(part_score)s::float8 [],
        %(part_exact)s::boolean [],
        %(part_contribution)s::float8 []
    ) AS p (branch, collection_id, document_id, ordinal, rank, score, exact, contribution)
    /*end*/
),

evidence AS MATERIALIZED (
    SELECT
        part.collection_id,
        max(part.score) AS best
    FROM part
    WHERE part.branch = ANY(%(evidence_branch)s::integer [])
    GROUP BY part.collection_id
),

prior AS MATERIALIZED (
    SELECT
        asked.collection_id,
        %(evidence_weight)s::float8
        * ln(greatest(coalesce(evidence.best, 0) / top.best, %(evidence_floor)s::float8)) AS score
    FROM (SELECT DISTINCT part.collection_id FROM part) AS asked
    CROSS JOIN (SELECT max(evidence.best) AS best FROM evidence) AS top
    LEFT JOIN evidence ON asked.collection_id = evidence.collection_id
    WHERE top.best > 0
),

chunk AS MATERIALIZED (
    SELECT
        part.collection_id,
        part.document_id,
        part.ordinal,
        sum(part.contribution ORDER BY part.branch) + coalesce(min(prior.score), 0) AS fused_score,
        coalesce(min(prior.score), 0) AS prior,
        min(part.rank) AS best_rank,
        count(*) AS branch_count
    FROM part
    LEFT JOIN prior ON part.collection_id = prior.collection_id
    GROUP BY part.collection_id, part.document_id, part.ordinal
),

best AS (
    SELECT DISTINCT ON (chunk.collection_id, chunk.document_id)
        chunk.collection_id,
        chunk.document_id,
        chunk.fused_score,
        chunk.best_rank,
        chunk.branch_count
    FROM chunk
    ORDER BY
        chunk.collection_id ASC,
        chunk.document_id ASC,
        chunk.fused_score DESC,
        chunk.best_rank ASC,
        chunk.branch_count DESC,
        chunk.ordinal ASC
),

placed AS MATERIALIZED (
    SELECT
        best.collection_id,
        best.document_id,
        row_number() OVER (
            ORDER BY
                best.fused_score DESC,
                best.best_rank ASC,
                best.branch_count DESC,
                best.collection_id ASC,
                best.document_id ASC
        ) AS place,
        count(*) OVER () AS found
    FROM best
    ORDER BY place
    LIMIT %(documents)s::integer
),

branch AS (
    SELECT jsonb_agg(jsonb_build_array(b.branch, b.hits, b.exact) ORDER BY b.branch) AS branches
    FROM (
        SELECT
            part.branch,
            count(*) AS hits,
            bool_and(part.exact) AS exact
        FROM part
        GROUP BY part.branch
    ) AS b
)

SELECT
    placed.place::integer AS place,
    chunk.collection_id,
    chunk.document_id,
    chunk.ordinal,
    chunk.fused_score,
    (
        SELECT
            jsonb_agg(
                jsonb_build_array(part.branch, part.rank, part.score, part.contribution) ORDER BY part.branch
            )
        FROM part
        WHERE
            part.collection_id = chunk.collection_id
            AND part.document_id = chunk.document_id
            AND part.ordinal = chunk.ordinal
    ) AS parts,
    chunk.prior,
    branch.branches,
    placed.found::integer AS found
FROM placed
INNER JOIN chunk ON placed.collection_id = chunk.collection_id AND placed.document_id = chunk.document_id
CROSS JOIN branch
ORDER BY placed.place ASC, chunk.fused_score DESC, chunk.best_rank ASC, chunk.branch_count DESC, chunk.ordinal ASC
