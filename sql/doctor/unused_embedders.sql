-- Embedders that no collection and no selector uses.
-- row   object, detail, mend

SELECT
    e.name AS object,
    'is used by no collection and no selector' AS detail,
    ARRAY['DELETE FROM pgbraid.embedder WHERE id = ' || e.id] AS mend
FROM pgbraid.embedder AS e
WHERE
    NOT EXISTS (SELECT FROM pgbraid.collection AS k WHERE k.embedder_id = e.id)
    AND NOT EXISTS (SELECT FROM pgbraid.route_selector AS s WHERE s.embedder_id = e.id)
ORDER BY e.name
