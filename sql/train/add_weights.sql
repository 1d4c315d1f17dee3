-- What a version of the classifier weighs; a label without text stands for no route.
-- param classifier_id bigint
-- param labels        text[]
-- param biases        float8[]
-- param vectors       text[]
-- row   place
-- hole  ext schema

INSERT INTO pgbraid.classifier_weight (classifier_id, place, route_id, bias, weights)
SELECT
    %(classifier_id)s::bigint AS classifier_id,
    made.place,
    r.id AS route_id,
    made.bias,
    made.vector::/*ext*/ public.vector AS weights
FROM unnest(%(labels)s::text [], %(biases)s::double precision [], %(vectors)s::text [])
WITH ORDINALITY AS made (label, bias, vector, place)
LEFT JOIN pgbraid.route AS r ON r.name = made.label
WHERE made.label = '' OR r.id IS NOT NULL
RETURNING place
