-- Fold the changes of a collection's counts into the newest of them, which keeps its id: the revision stays.
-- param collection_id bigint

WITH newest AS (
    SELECT max(change.id) AS id
    FROM pgbraid.collection_change AS change
    WHERE change.collection_id = %(collection_id)s::bigint
),

moved AS (
    DELETE FROM pgbraid.collection_change AS change
    USING newest
    WHERE change.collection_id = %(collection_id)s::bigint AND change.id < newest.id
    RETURNING change.documents, change.chunks, change.length
),

total AS (
    SELECT
        coalesce(sum(moved.documents), 0) AS documents,
        coalesce(sum(moved.chunks), 0) AS chunks,
        coalesce(sum(moved.length), 0) AS length
    FROM moved
)

UPDATE pgbraid.collection_change AS change
SET
    documents = change.documents + total.documents,
    chunks = change.chunks + total.chunks,
    length = change.length + total.length
FROM newest, total
WHERE change.collection_id = %(collection_id)s::bigint AND change.id = newest.id
