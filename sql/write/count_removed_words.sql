-- Take the chunks of these documents out of the counts of their words.
-- param collection_id bigint
-- param tenant        text
-- param document_ids  bigint[]
-- hole  chunk relation

INSERT INTO pgbraid.lexeme_change (collection_id, lexeme_id, chunks)
SELECT
    %(collection_id)s::bigint AS collection_id,
    known.id AS lexeme_id,
    -word.chunks AS chunks
FROM (
    SELECT
        w.lexeme,
        count(*)::integer AS chunks
    FROM /*chunk*/ pgbraid.chunk AS old
    CROSS JOIN LATERAL unnest(old.words) AS w
    WHERE
        old.collection_id = %(collection_id)s::bigint
        AND old.tenant = %(tenant)s::text
        AND old.document_id = ANY(%(document_ids)s::bigint [])
    GROUP BY w.lexeme
) AS word
CROSS JOIN LATERAL (
    SELECT min(l.id) AS id
    FROM pgbraid.lexeme AS l
    WHERE l.collection_id = %(collection_id)s::bigint AND l.word = word.lexeme
) AS known
WHERE known.id IS NOT NULL
