-- Gather the words of the staged chunks, each with its id in the collection; a word that has none yet gets one.
-- param collection_id bigint

INSERT INTO pg_temp.pgbraid_word_stage (word, id, is_new, chunks)
SELECT
    used.lexeme AS word,
    coalesce(known.id, nextval(pg_get_serial_sequence('pgbraid.lexeme', 'id'))) AS id,
    known.id IS NULL AS is_new,
    used.chunks
FROM (
    SELECT
        w.lexeme,
        count(*)::integer AS chunks
    FROM pg_temp.pgbraid_chunk_stage AS stage
    INNER JOIN pg_temp.pgbraid_document_stage AS document ON stage.document_id = document.id
    CROSS JOIN LATERAL unnest(stage.words) AS w
    WHERE document.written
    GROUP BY w.lexeme
) AS used
CROSS JOIN LATERAL (
    SELECT min(l.id) AS id
    FROM pgbraid.lexeme AS l
    WHERE l.collection_id = %(collection_id)s::bigint AND l.word = used.lexeme
) AS known
