-- Tell the collection the words that it did not know, with their counts: nobody else can be counting them.
-- param collection_id bigint

INSERT INTO pgbraid.lexeme (id, collection_id, word, chunks)
SELECT
    stage.id,
    %(collection_id)s::bigint AS collection_id,
    stage.word,
    stage.chunks
FROM pg_temp.pgbraid_word_stage AS stage
WHERE stage.is_new
