-- Keep what an embedder made of texts.
-- param embedder text
-- param hashes   bytea[]
-- param vectors  text[]
-- hole  ext schema

INSERT INTO pgbraid.route_vector (embedder_id, hash, embedding)
SELECT
    e.id AS embedder_id,
    made.hash,
    made.vector::/*ext*/ public.vector AS embedding
FROM unnest(%(hashes)s::bytea [], %(vectors)s::text []) AS made (hash, vector)
INNER JOIN pgbraid.embedder AS e ON e.name = %(embedder)s::text
ON CONFLICT ON CONSTRAINT route_vector_pkey DO NOTHING
