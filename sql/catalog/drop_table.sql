-- Drop one table of a collection.
-- hole table relation

DROP TABLE /*table*/ pgbraid.chunk_1
