-- The words of a question as each collection knows them: their ids there, how often the question says them, and how many
-- chunks hold them. A word that no chunk holds does not come back.
-- param question    text
-- param collections bigint[]   null for all
-- row   collection_id, word, lexeme_id, times, chunks
-- plan  lexeme_word_btree

WITH asked AS (
    SELECT
        c.id,
        c.text_config
    FROM pgbraid.collection AS c
    WHERE %(collections)s::bigint [] IS NULL OR c.id = ANY(%(collections)s::bigint [])
),

config AS MATERIALIZED (
    SELECT DISTINCT asked.text_config
    FROM asked
),

word AS MATERIALIZED (
    SELECT
        config.text_config,
        w.lexeme,
        cardinality(w.positions) AS times
    FROM config
    CROSS JOIN LATERAL unnest(pgbraid.words_v1(config.text_config, %(question)s::text)) AS w
)

SELECT
    asked.id AS collection_id,
    word.lexeme AS word,
    known.id AS lexeme_id,
    word.times,
    (known.chunks + coalesce(since.chunks, 0))::bigint AS chunks
FROM asked
INNER JOIN word ON asked.text_config = word.text_config
INNER JOIN pgbraid.lexeme AS known ON asked.id = known.collection_id AND word.lexeme = known.word
LEFT JOIN LATERAL (
    SELECT sum(change.chunks) AS chunks
    FROM pgbraid.lexeme_change AS change
    WHERE change.collection_id = asked.id AND change.lexeme_id = known.id
) AS since ON true
ORDER BY asked.id, word.lexeme, known.id
