-- The version of the classifier that decides, or null.
-- row id

SELECT
    (
        SELECT a.classifier_id
        FROM pgbraid.classifier_activation AS a
        ORDER BY a.place DESC
        LIMIT 1
    ) AS id
