-- Compute the document's half of the BM25 score again for every chunk whose weights differ.
-- param collection_id  bigint
-- param k1             float8
-- param b              float8
-- param average_length float8
-- hole  ext schema
-- hole  chunk relation

UPDATE /*chunk*/ pgbraid.chunk AS c
SET terms = fresh.terms
FROM (
    SELECT
        chunk.tenant,
        chunk.document_id,
        chunk.ordinal,
        (
            '{' || string_agg(
                lexeme.id || ':' || (
                    cardinality(w.positions) * (%(k1)s::float8 + 1)
                    / (
                        cardinality(w.positions) + %(k1)s::float8
                        * (1 - %(b)s::float8 + %(b)s::float8 * chunk.length / %(average_length)s::float8)
                    )
                )::real, ','
            ) || '}/1000000000'
        )::/*ext*/ public.sparsevec AS terms
    FROM /*chunk*/ pgbraid.chunk AS chunk
    CROSS JOIN LATERAL unnest(chunk.words) AS w
    CROSS JOIN LATERAL (
        SELECT min(known.id) AS id
        FROM pgbraid.lexeme AS known
        WHERE known.collection_id = %(collection_id)s::bigint AND known.word = w.lexeme
    ) AS lexeme
    WHERE chunk.collection_id = %(collection_id)s::bigint
    GROUP BY chunk.tenant, chunk.document_id, chunk.ordinal
) AS fresh
WHERE
    c.collection_id = %(collection_id)s::bigint
    AND c.tenant = fresh.tenant
    AND c.document_id = fresh.document_id
    AND c.ordinal = fresh.ordinal
    AND c.terms OPERATOR(/*ext*/ public.<>) fresh.terms
