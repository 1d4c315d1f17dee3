-- A new version of the classifier.
-- param embedder_id bigint
-- param report      jsonb
-- param questions   bytea[]   SHA-256 of what it learned from
-- row   id

INSERT INTO pgbraid.classifier (embedder_id, report, questions)
VALUES (%(embedder_id)s::bigint, %(report)s::jsonb, %(questions)s::bytea [])
RETURNING id
