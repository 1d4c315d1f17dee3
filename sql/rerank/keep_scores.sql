-- Keep the rerank scores of pairs for other processes. `scores` has an array a pair, written as text.
-- param keys   bytea[]
-- param scores text[]
-- param sizes  integer[]

INSERT INTO pgbraid.rerank_score (key, scores, size)
SELECT
    n.key,
    n.scores::double precision[],
    n.size
FROM unnest(%(keys)s::bytea[], %(scores)s::text[], %(sizes)s::integer[]) AS n (key, scores, size)
ON CONFLICT ON CONSTRAINT rerank_score_pkey DO NOTHING
