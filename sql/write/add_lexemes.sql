-- Tell the collection the words that it did not know.
-- param collection_id bigint

INSERT INTO pgbraid.lexeme (id, collection_id, word)
SELECT
    stage.id,
    %(collection_id)s::bigint AS collection_id,
    stage.word
FROM pg_temp.pgbraid_word_stage AS stage
WHERE stage.is_new
