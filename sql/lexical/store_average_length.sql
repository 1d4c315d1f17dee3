-- Remember the average chunk length that the weights are computed with from now on.
-- param collection_id  bigint
-- param average_length float8

UPDATE pgbraid.collection
SET average_length = %(average_length)s::float8
WHERE id = %(collection_id)s::bigint
