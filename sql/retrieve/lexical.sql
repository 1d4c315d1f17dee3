-- Rank one collection's chunks by words: exact BM25 of the question over every chunk that holds one of them.
-- chunk.terms is the document's half of the score, the question's half is the idf of each word. "|| ''" keeps the key's
-- index out: for every row that it gave, words would be fetched from TOAST.
-- param tenant     text
-- param query      tsquery
-- param terms      sparsevec   lexeme id to idf
-- param filter     jsonpath    null for none
-- param threshold  float8      null for none
-- param candidates integer
-- row   document_id, ordinal, rank, score, exact
-- plan  words_gin
-- hole  chunk relation
-- hole  ext schema

SELECT
    best.document_id,
    best.ordinal,
    (row_number() OVER (ORDER BY best.score DESC, best.document_id, best.ordinal))::integer AS rank,
    best.score,
    true AS exact
FROM (
    SELECT
        chunk.document_id,
        chunk.ordinal,
        -(chunk.terms OPERATOR(/*ext*/ public.<#>) %(terms)s::/*ext*/ public.sparsevec) AS score
    FROM /*chunk*/ pgbraid.chunk AS chunk
    WHERE
        chunk.words @@ %(query)s::tsquery
        AND chunk.tenant || '' = %(tenant)s::text
        AND (%(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath)
    ORDER BY score DESC, chunk.document_id, chunk.ordinal
    LIMIT %(candidates)s::integer
) AS best
WHERE %(threshold)s::float8 IS NULL OR best.score >= %(threshold)s::float8
