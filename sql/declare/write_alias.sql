-- Let another name mean a collection.
-- param alias      text
-- param collection text
-- row   alias

INSERT INTO pgbraid.route_alias (alias, collection_id)
SELECT
    %(alias)s::text AS alias,
    c.id AS collection_id
FROM pgbraid.collection AS c
WHERE c.name = %(collection)s::text
ON CONFLICT ON CONSTRAINT route_alias_pkey DO UPDATE SET collection_id = excluded.collection_id
RETURNING alias
