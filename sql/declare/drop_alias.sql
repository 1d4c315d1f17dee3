-- Forget another name of a collection.
-- param alias text
-- row   alias

DELETE FROM pgbraid.route_alias
WHERE alias = %(alias)s::text
RETURNING alias
