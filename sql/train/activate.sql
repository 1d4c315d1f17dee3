-- Let a version of the classifier decide from now on, unless it does already.
-- param classifier_id bigint

INSERT INTO pgbraid.classifier_activation (classifier_id)
SELECT c.id
FROM pgbraid.classifier AS c
WHERE
    c.id = %(classifier_id)s::bigint
    AND c.id IS DISTINCT FROM (
        SELECT a.classifier_id
        FROM pgbraid.classifier_activation AS a
        ORDER BY a.place DESC
        LIMIT 1
    )
