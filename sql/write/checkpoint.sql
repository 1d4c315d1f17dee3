-- How many documents of a load that was interrupted are written.
-- param collection_id bigint
-- param name          text
-- row   position

SELECT c.position
FROM pgbraid.checkpoint AS c
WHERE c.collection_id = %(collection_id)s::bigint AND c.name = %(name)s::text
