-- The hashes of the questions that a version of the classifier learned from.
-- param classifier_id bigint
-- row   hash

SELECT unnest(c.questions) AS hash
FROM pgbraid.classifier AS c
WHERE c.id = %(classifier_id)s::bigint
