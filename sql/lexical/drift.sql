-- How far the average chunk length has moved from the one that the stored weights were computed with.
-- param collection_id bigint
-- row   stored, current

SELECT
    c.average_length AS stored,
    (
        SELECT sum(change.length)::float8 / nullif(sum(change.chunks), 0)
        FROM pgbraid.collection_change AS change
        WHERE change.collection_id = c.id
    ) AS current
FROM pgbraid.collection AS c
WHERE c.id = %(collection_id)s::bigint
