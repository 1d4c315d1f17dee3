-- Collections whose stored weights of words are of another average length than their chunks have now, or whose word counts wait to
-- be folded.
-- row   object, detail, mend

SELECT
    k.name AS object,
    CASE
        WHEN waiting.changes > 10000 THEN 'has ' || waiting.changes || ' word counts to fold, and every question adds them up'
        ELSE 'weighs its words by an average length of ' || round(k.average_length::numeric, 1) || ', and its chunks have '
        || round(waiting.average::numeric, 1)
    END AS detail,
    '{}'::text [] AS mend
FROM pgbraid.collection AS k
CROSS JOIN LATERAL (
    SELECT
        (SELECT count(*) FROM pgbraid.lexeme_change AS l WHERE l.collection_id = k.id) AS changes,
        (
            SELECT sum(c.length)::float8 / nullif(sum(c.chunks), 0)
            FROM pgbraid.collection_change AS c
            WHERE c.collection_id = k.id
        ) AS average
) AS waiting
WHERE waiting.changes > 10000 OR abs(waiting.average - k.average_length) > 0.1 * waiting.average
ORDER BY k.name
