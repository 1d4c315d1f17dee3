-- Rank one collection's chunks by words: exact BM25 as in retrieve/lexical, of those chunks only that can be among the
-- best. queries[i] finds every chunk that scores floors[i] or more; floors rise from 0. The search begins at `start`; the
-- score of the last candidate (or the threshold) then says which query is enough, and unless that is the first one or
-- a narrower, it is asked. So the result is that of scoring every match, and the second search says why.
-- param tenant     text
-- param queries    text[]      tsqueries
-- param floors     float8[]
-- param start      integer     counts from 1
-- param terms      sparsevec   lexeme id to idf
-- param filter     jsonpath    null for none
-- param threshold  float8      null for none
-- param candidates integer
-- row   document_id, ordinal, rank, score, exact
-- plan  words_gin
-- hole  chunk relation
-- hole  ext schema

WITH likely AS MATERIALIZED (
    SELECT
        chunk.document_id,
        chunk.ordinal,
        -(chunk.terms OPERATOR(/*ext*/ public.<#>) %(terms)s::/*ext*/ public.sparsevec) AS score
    FROM /*chunk*/ pgbraid.chunk AS chunk
    WHERE
        chunk.words @@ ((%(queries)s::text [])[%(start)s::integer])::tsquery
        AND chunk.tenant || '' = %(tenant)s::text
        AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
    ORDER BY score DESC, chunk.document_id, chunk.ordinal
    LIMIT %(candidates)s::integer
),

-- the lowest score that matters: that of the last candidate, if there are as many as wanted
needed AS MATERIALIZED (
    SELECT
        greatest(
            CASE WHEN count(*) >= %(candidates)s::integer THEN min(likely.score) END,
            %(threshold)s::float8
        ) AS score
    FROM likely
),

enough AS MATERIALIZED (
    SELECT coalesce(max(rung.place), 1)::integer AS place
    FROM needed
    INNER JOIN unnest(%(floors)s::float8 []) WITH ORDINALITY AS rung (score, place) ON rung.score <= needed.score
)

SELECT
    best.document_id,
    best.ordinal,
    (row_number() OVER (ORDER BY best.score DESC, best.document_id, best.ordinal))::integer AS rank,
    best.score,
    true AS exact
FROM (
    SELECT
        likely.document_id,
        likely.ordinal,
        likely.score
    FROM likely
    WHERE (SELECT enough.place FROM enough) >= %(start)s::integer
    UNION ALL
    (
        SELECT
            chunk.document_id,
            chunk.ordinal,
            -(chunk.terms OPERATOR(/*ext*/ public.<#>) %(terms)s::/*ext*/ public.sparsevec) AS score
        FROM /*chunk*/ pgbraid.chunk AS chunk
        WHERE
            (SELECT enough.place FROM enough) < %(start)s::integer
            AND chunk.words @@ ((%(queries)s::text [])[(SELECT enough.place FROM enough)])::tsquery
            AND chunk.tenant || '' = %(tenant)s::text
            AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
        ORDER BY score DESC, chunk.document_id, chunk.ordinal
        LIMIT %(candidates)s::integer
    )
) AS best
WHERE %(threshold)s::float8 IS NULL OR best.score >= %(threshold)s::float8
