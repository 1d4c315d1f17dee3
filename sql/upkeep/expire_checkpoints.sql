-- Forget interrupted loads that nobody took up again.
-- param days integer
-- row   name

DELETE FROM pgbraid.checkpoint AS c
WHERE c.updated_at < now() - make_interval(days => %(days)s::integer)
RETURNING c.name
