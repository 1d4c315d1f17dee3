-- The rerank scores of pairs that some process computed before.
-- param keys bytea[]
-- row   key, scores, size

SELECT
    r.key,
    r.scores,
    r.size
FROM pgbraid.rerank_score AS r
WHERE r.key = ANY(%(keys)s::bytea[])
