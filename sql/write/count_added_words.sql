-- Put the staged chunks into the counts of their words.
-- param collection_id bigint

INSERT INTO pgbraid.lexeme_change (collection_id, lexeme_id, chunks)
SELECT
    %(collection_id)s::bigint AS collection_id,
    known.id AS lexeme_id,
    word.chunks
FROM (
    SELECT
        w.lexeme,
        count(*)::integer AS chunks
    FROM pg_temp.pgbraid_chunk_stage AS stage
    INNER JOIN pg_temp.pgbraid_document_stage AS document ON stage.document_id = document.id
    CROSS JOIN LATERAL unnest(stage.words) AS w
    WHERE document.written
    GROUP BY w.lexeme
) AS word
CROSS JOIN LATERAL (
    SELECT min(l.id) AS id
    FROM pgbraid.lexeme AS l
    WHERE l.collection_id = %(collection_id)s::bigint AND l.word = word.lexeme
) AS known
