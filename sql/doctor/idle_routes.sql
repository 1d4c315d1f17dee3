-- Routes that are switched on and ask no collection.
-- row   object, detail, mend

SELECT
    r.name AS object,
    'matches questions and asks no collection' AS detail,
    ARRAY['UPDATE pgbraid.route SET enabled = false WHERE id = ' || r.id] AS mend
FROM pgbraid.route AS r
WHERE r.enabled AND NOT EXISTS (SELECT FROM pgbraid.route_collection AS c WHERE c.route_id = r.id)
ORDER BY r.name
