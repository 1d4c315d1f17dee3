-- Take back the last activation, so that the version before decides again; the very last only while no selector asks.
-- row classifier_id

DELETE FROM pgbraid.classifier_activation AS a
WHERE
    a.place = (SELECT max(latest.place) FROM pgbraid.classifier_activation AS latest)
    AND (
        EXISTS (SELECT FROM pgbraid.classifier_activation AS earlier WHERE earlier.place < a.place)
        OR NOT EXISTS (SELECT FROM pgbraid.route_selector AS s WHERE s.kind = 'classifier')
    )
RETURNING a.classifier_id
