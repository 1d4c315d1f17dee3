-- Forget rerank scores that are old, and the oldest of those that are too many.
-- param days integer
-- param most bigint
-- row   removed

WITH gone AS (
    DELETE FROM pgbraid.rerank_score AS r
    WHERE
        r.kept_at < now() - make_interval(days => %(days)s::integer)
        OR r.kept_at <= (
            SELECT o.kept_at
            FROM pgbraid.rerank_score AS o
            ORDER BY o.kept_at DESC
            OFFSET %(most)s::bigint
            LIMIT 1
        )
    RETURNING r.key
)

SELECT count(*) AS removed
FROM gone
