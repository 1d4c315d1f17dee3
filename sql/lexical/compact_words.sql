-- Fold the changes of word counts into the words themselves. Writers go on adding changes meanwhile.
-- param collection_id bigint

WITH moved AS (
    DELETE FROM pgbraid.lexeme_change AS change
    WHERE change.collection_id = %(collection_id)s::bigint
    RETURNING change.lexeme_id, change.chunks
),

total AS (
    SELECT
        moved.lexeme_id,
        sum(moved.chunks) AS chunks
    FROM moved
    GROUP BY moved.lexeme_id
)

UPDATE pgbraid.lexeme AS l
SET chunks = l.chunks + total.chunks
FROM total
WHERE l.id = total.lexeme_id AND total.chunks <> 0
