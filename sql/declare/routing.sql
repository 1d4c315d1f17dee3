-- What happens when no route matches: the policy, and the route whose collections are asked by policy `route`.
-- row policy, route

SELECT
    routing.policy,
    r.name AS route
FROM pgbraid.routing AS routing
LEFT JOIN pgbraid.route AS r ON routing.route_id = r.id
