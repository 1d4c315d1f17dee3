-- Drop one index of a collection.
-- hole index relation

DROP INDEX IF EXISTS /*index*/ pgbraid.chunk_1_embedding_hnsw
