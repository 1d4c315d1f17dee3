-- Every route as it was declared, with its collections and its rules and examples in order.
-- row name, description, priority, profile, enabled, collections, rules, examples

SELECT
    r.name,
    r.description,
    r.priority,
    r.profile,
    r.enabled,
    coalesce((
        SELECT array_agg(c.name ORDER BY c.name)
        FROM pgbraid.route_collection AS rc
        INNER JOIN pgbraid.collection AS c ON rc.collection_id = c.id
        WHERE rc.route_id = r.id
    ), '{}') AS collections,
    coalesce((
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'mode', rr.mode, 'kind', rr.kind, 'pattern', rr.pattern, 'expression', rr.expression
                ) ORDER BY rr.place
            )
        FROM pgbraid.route_rule AS rr
        WHERE rr.route_id = r.id
    ), '[]'::jsonb) AS rules,
    coalesce((
        SELECT array_agg(x.text ORDER BY x.place)
        FROM pgbraid.route_example AS x
        WHERE x.route_id = r.id
    ), '{}') AS examples
FROM pgbraid.route AS r
ORDER BY r.name
