-- Every route with its collections and, judged against the question, whether its rules match and which of them.
-- param question text
-- row   name, priority, profile, collections, matched, patterns, is_default, policy

SELECT
    r.name,
    r.priority,
    r.profile,
    coalesce(target.collections, '{}') AS collections,
    r.enabled AND judged.rules > 0 AND judged.any_hit AND judged.all_hit AND NOT judged.none_hit AS matched,
    judged.patterns,
    r.id IS NOT DISTINCT FROM routing.route_id AND routing.policy = 'route' AS is_default,
    routing.policy
FROM pgbraid.routing AS routing
LEFT JOIN pgbraid.route AS r ON true
LEFT JOIN LATERAL (
    SELECT array_agg(c.name ORDER BY c.name) AS collections
    FROM pgbraid.route_collection AS rc
    INNER JOIN pgbraid.collection AS c ON rc.collection_id = c.id
    WHERE rc.route_id = r.id
) AS target ON true
LEFT JOIN LATERAL (
    SELECT
        count(*) AS rules,
        coalesce(bool_or(rule.hit) FILTER (WHERE rule.mode = 'any'), true) AS any_hit,
        coalesce(bool_and(rule.hit) FILTER (WHERE rule.mode = 'all'), true) AS all_hit,
        coalesce(bool_or(rule.hit) FILTER (WHERE rule.mode = 'none'), false) AS none_hit,
        coalesce(
            array_agg(rule.pattern ORDER BY rule.place) FILTER (WHERE rule.hit AND rule.mode <> 'none'), '{}'
        ) AS patterns
    FROM (
        SELECT
            rr.place,
            rr.mode,
            rr.pattern,
            %(question)s::text ~* rr.expression AS hit
        FROM pgbraid.route_rule AS rr
        WHERE rr.route_id = r.id
    ) AS rule
) AS judged ON true
ORDER BY r.priority DESC, r.name
