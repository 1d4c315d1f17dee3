-- Forget vectors of texts that no route has any more, or of embedders that no selector uses.
-- param embedder text      null for none
-- param hashes   bytea[]   those in use

DELETE FROM pgbraid.route_vector AS v
WHERE NOT EXISTS (
    SELECT 1
    FROM pgbraid.embedder AS e
    WHERE
        e.id = v.embedder_id
        AND e.name = %(embedder)s::text
        AND v.hash = ANY(%(hashes)s::bytea [])
)
