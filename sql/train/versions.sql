-- Versions of the classifier, the newest first; the active one decides.
-- row id, embedder, learned_at, report, active

SELECT
    c.id,
    e.name AS embedder,
    c.learned_at,
    c.report,
    c.id IS NOT DISTINCT FROM (
        SELECT a.classifier_id
        FROM pgbraid.classifier_activation AS a
        ORDER BY a.place DESC
        LIMIT 1
    ) AS active
FROM pgbraid.classifier AS c
INNER JOIN pgbraid.embedder AS e ON c.embedder_id = e.id
ORDER BY c.id DESC
