-- Take all rules out of a route.
-- param route_id bigint

DELETE FROM pgbraid.route_rule
WHERE route_id = %(route_id)s::bigint
