-- Build an index anew beside the old one, while readers and writers go on. Runs in no transaction.
-- hole index relation

REINDEX INDEX CONCURRENTLY /*index*/ pgbraid.chunk_1_embedding_hnsw
