-- Give an id to every staged word that the collection does not know yet.
-- param collection_id bigint

INSERT INTO pgbraid.lexeme (collection_id, word)
SELECT
    %(collection_id)s::bigint AS collection_id,
    word.lexeme
FROM (
    SELECT DISTINCT w.lexeme
    FROM pg_temp.pgbraid_chunk_stage AS stage
    INNER JOIN pg_temp.pgbraid_document_stage AS document ON stage.document_id = document.id
    CROSS JOIN LATERAL unnest(stage.words) AS w
    WHERE document.written
) AS word
WHERE NOT EXISTS (
    SELECT
    FROM pgbraid.lexeme AS known
    WHERE known.collection_id = %(collection_id)s::bigint AND known.word = word.lexeme
)
ORDER BY word.lexeme
