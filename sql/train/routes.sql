-- Names of routes that questions may be labelled with.
-- row name

SELECT r.name
FROM pgbraid.route AS r
ORDER BY r.name
