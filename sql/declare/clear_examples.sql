-- Take all examples out of a route.
-- param route_id bigint

DELETE FROM pgbraid.route_example
WHERE route_id = %(route_id)s::bigint
