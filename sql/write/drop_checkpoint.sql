-- Forget where a load stood: it came to its end.
-- param collection_id bigint
-- param name          text

DELETE FROM pgbraid.checkpoint AS c
WHERE c.collection_id = %(collection_id)s::bigint AND c.name = %(name)s::text
