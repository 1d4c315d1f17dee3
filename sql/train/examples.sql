-- The example questions of routes.
-- row route, text

SELECT
    r.name AS route,
    e.text
FROM pgbraid.route_example AS e
INNER JOIN pgbraid.route AS r ON e.route_id = r.id
ORDER BY r.name, e.place
