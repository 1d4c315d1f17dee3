-- Say what happens when no route matches.
-- param policy   text
-- param route_id bigint   with policy `route`, else null

UPDATE pgbraid.routing
SET
    policy = %(policy)s::text,
    route_id = %(route_id)s::bigint
WHERE id = 1
