-- Forget an embedder that no collection, no selector and no activated version of the classifier uses.
-- param name text
-- row   id

DELETE FROM pgbraid.embedder AS e
WHERE
    e.name = %(name)s::text
    AND NOT EXISTS (SELECT FROM pgbraid.collection AS c WHERE c.embedder_id = e.id)
    AND NOT EXISTS (SELECT FROM pgbraid.route_selector AS s WHERE s.embedder_id = e.id)
    AND NOT EXISTS (
        SELECT FROM pgbraid.classifier_activation AS a
        INNER JOIN pgbraid.classifier AS c ON a.classifier_id = c.id
        WHERE c.embedder_id = e.id
    )
RETURNING e.id
