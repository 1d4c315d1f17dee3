DROP TABLE pgbraid.collection_change;
DROP TABLE pgbraid.lexeme_change;
DROP TABLE pgbraid.lexeme;
DROP TABLE pgbraid.chunk;
DROP TABLE pgbraid.document;
DROP FUNCTION pgbraid.words_v1 (text, text);
DROP FUNCTION pgbraid.pairs_v1 (text);
