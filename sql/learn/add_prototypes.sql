-- Say what stands for a route among the vectors of an embedder.
-- param route    text
-- param embedder text
-- param vectors  text[]
-- hole  ext schema

INSERT INTO pgbraid.route_prototype (route_id, place, embedder_id, embedding)
SELECT
    r.id AS route_id,
    made.place,
    e.id AS embedder_id,
    made.vector::/*ext*/ public.vector AS embedding
FROM unnest(%(vectors)s::text []) WITH ORDINALITY AS made (vector, place)
INNER JOIN pgbraid.route AS r ON r.name = %(route)s::text
INNER JOIN pgbraid.embedder AS e ON e.name = %(embedder)s::text
