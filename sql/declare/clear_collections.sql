-- Take all collections out of a route.
-- param route_id bigint

DELETE FROM pgbraid.route_collection
WHERE route_id = %(route_id)s::bigint
