-- Which of these texts this embedder has embedded already.
-- param embedder text
-- param hashes   bytea[]
-- row   hash

SELECT v.hash
FROM pgbraid.route_vector AS v
INNER JOIN pgbraid.embedder AS e ON v.embedder_id = e.id
WHERE
    e.name = %(embedder)s::text
    AND v.hash = ANY(%(hashes)s::bytea [])
