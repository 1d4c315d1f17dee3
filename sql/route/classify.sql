-- How probable each route is to a version of the classifier: the softmax of dot products. A null name is none of these.
-- param classifier_id bigint
-- param vector        vector   of length 1, made by the embedder of that version
-- param routes        text[]   those that may be chosen; the others only take their share
-- row   name, score
-- hole  ext schema

SELECT
    said.name,
    said.score
FROM (
    SELECT
        r.name,
        w.route_id IS NULL OR (r.enabled AND r.name = any(%(routes)s::text [])) AS able,
        power.value / sum(power.value) OVER () AS score
    FROM (
        SELECT
            cw.route_id,
            dot.product - max(dot.product) OVER () AS logit
        FROM pgbraid.classifier_weight AS cw
        CROSS JOIN LATERAL (
            SELECT cw.bias - (cw.weights OPERATOR(/*ext*/ public.<#>) %(vector)s::/*ext*/ public.vector) AS product
        ) AS dot
        WHERE cw.classifier_id = %(classifier_id)s::bigint
    ) AS w
    -- exp() of what is too small raises an error
    CROSS JOIN LATERAL (SELECT exp(greatest(w.logit, -700)) AS value) AS power
    LEFT JOIN pgbraid.route AS r ON w.route_id = r.id
) AS said
WHERE said.able
ORDER BY said.score DESC, said.name
