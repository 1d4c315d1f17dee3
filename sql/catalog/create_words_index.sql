-- Serves the lexical branch: chunks that hold any of the words.
-- hole index name
-- hole table relation

CREATE INDEX /*index*/ chunk_1_words_gin ON /*table*/ pgbraid.chunk_1 USING gin (words)
