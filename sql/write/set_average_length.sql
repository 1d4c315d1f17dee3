-- The first batch of a collection says how long its average chunk is; lexical upkeep keeps it true later.
-- param collection_id bigint

UPDATE pgbraid.collection AS c
SET average_length = first_batch.average_length
FROM (
    SELECT avg(chunk.length) AS average_length
    FROM (
        SELECT (SELECT coalesce(sum(cardinality(w.positions)), 0) FROM unnest(stage.words) AS w) AS length
        FROM pg_temp.pgbraid_chunk_stage AS stage
    ) AS chunk
) AS first_batch
WHERE c.id = %(collection_id)s::bigint AND c.average_length = 0 AND first_batch.average_length > 0
