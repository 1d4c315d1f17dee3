-- Other names of collections.
-- row alias, collection

SELECT
    a.alias,
    c.name AS collection
FROM pgbraid.route_alias AS a
INNER JOIN pgbraid.collection AS c ON a.collection_id = c.id
ORDER BY a.alias
