-- What a version of the classifier weighs; a label without text stands for no route.
-- param classifier_id bigint
-- row   label, bias, weights

SELECT
    coalesce(r.name, '') AS label,
    w.bias,
    w.weights::real [] AS weights
FROM pgbraid.classifier_weight AS w
LEFT JOIN pgbraid.route AS r ON w.route_id = r.id
WHERE w.classifier_id = %(classifier_id)s::bigint
ORDER BY w.place
