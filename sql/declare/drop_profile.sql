-- Forget a profile.
-- param name text
-- row   name

DELETE FROM pgbraid.profile
WHERE name = %(name)s::text
RETURNING name
