-- Give a route its rules, in order.
-- param route_id    bigint
-- param modes       text[]
-- param kinds       text[]
-- param patterns    text[]
-- param expressions text[]

INSERT INTO pgbraid.route_rule (route_id, place, mode, kind, pattern, expression)
SELECT
    %(route_id)s::bigint AS route_id,
    rule.place,
    rule.mode,
    rule.kind,
    rule.pattern,
    rule.expression
FROM unnest(
    %(modes)s::text [],
    %(kinds)s::text [],
    %(patterns)s::text [],
    %(expressions)s::text []
) WITH ORDINALITY AS rule (mode, kind, pattern, expression, place)
