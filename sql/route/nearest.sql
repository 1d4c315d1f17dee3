-- How near a question is to each route: the mean cosine of the route's nearest prototypes.
-- param embedder_id bigint
-- param vector      vector   made by that embedder
-- param routes      text[]   those that may be chosen
-- param nearest     integer
-- row   name, score
-- hole  ext schema

SELECT
    ranked.name,
    avg(ranked.similarity) AS score
FROM (
    SELECT
        compared.name,
        compared.similarity,
        row_number() OVER (PARTITION BY compared.name ORDER BY compared.similarity DESC) AS place
    FROM (
        SELECT
            r.name,
            1 - (p.embedding OPERATOR(/*ext*/ public.<=>) %(vector)s::/*ext*/ public.vector) AS similarity
        FROM pgbraid.route_prototype AS p
        INNER JOIN pgbraid.route AS r ON p.route_id = r.id
        WHERE
            p.embedder_id = %(embedder_id)s::bigint
            AND r.enabled
            AND r.name = any(%(routes)s::text [])
    ) AS compared
) AS ranked
WHERE ranked.place <= %(nearest)s::integer
GROUP BY ranked.name
ORDER BY score DESC, ranked.name
