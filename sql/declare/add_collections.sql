-- Name the collections that a route asks.
-- param route_id    bigint
-- param collections text[]   names

INSERT INTO pgbraid.route_collection (route_id, collection_id)
SELECT
    %(route_id)s::bigint AS route_id,
    c.id AS collection_id
FROM pgbraid.collection AS c
WHERE c.name = any(%(collections)s::text [])
