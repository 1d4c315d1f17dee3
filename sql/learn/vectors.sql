-- What an embedder made of these texts.
-- param embedder text
-- param hashes   bytea[]
-- row   hash, embedding

SELECT
    v.hash,
    v.embedding::real [] AS embedding
FROM pgbraid.route_vector AS v
INNER JOIN pgbraid.embedder AS e ON v.embedder_id = e.id
WHERE
    e.name = %(embedder)s::text
    AND v.hash = ANY(%(hashes)s::bytea [])
