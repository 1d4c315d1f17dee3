-- Interrupted loads that nobody took up again for 30 days.
-- row   object, detail, mend

SELECT
    k.name AS object,
    'has an interrupted load, ' || c.name || ', that nobody took up since ' || c.updated_at::date AS detail,
    ARRAY['DELETE FROM pgbraid.checkpoint WHERE collection_id = ' || c.collection_id || ' AND name = ' || quote_literal(c.name)] AS mend
FROM pgbraid.checkpoint AS c
INNER JOIN pgbraid.collection AS k ON c.collection_id = k.id
WHERE c.updated_at < now() - interval '30 days'
ORDER BY k.name, c.name
