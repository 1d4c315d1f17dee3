-- Put the staged chunks into the counts of the words that the collection knew before.
-- param collection_id bigint

INSERT INTO pgbraid.lexeme_change (collection_id, lexeme_id, chunks)
SELECT
    %(collection_id)s::bigint AS collection_id,
    stage.id AS lexeme_id,
    stage.chunks
FROM pg_temp.pgbraid_word_stage AS stage
WHERE NOT stage.is_new
