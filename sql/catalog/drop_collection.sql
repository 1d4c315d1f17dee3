-- Take a collection out of the catalogue; routes, aliases and words of it go with it.
-- param collection_id bigint
-- row   id

DELETE FROM pgbraid.collection
WHERE id = %(collection_id)s::bigint
RETURNING id
