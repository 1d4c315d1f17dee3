-- Forget a route with its rules.
-- param name text
-- row   id

DELETE FROM pgbraid.route
WHERE name = %(name)s::text
RETURNING id
