-- Build the vector index of a filled table, while readers and writers go on. Runs in no transaction.
-- hole index name
-- hole table relation
-- hole ext schema
-- hole storage type
-- hole dim integer
-- hole opclass opclass
-- hole m integer
-- hole ef integer

CREATE INDEX CONCURRENTLY /*index*/ chunk_1_embedding_hnsw ON /*table*/ pgbraid.chunk_1 USING hnsw (
    (embedding::/*ext*/ public./*storage*/ halfvec(/*dim*/ 384)) /*ext*/ public./*opclass*/ halfvec_cosine_ops
) WITH (m = /*m*/ 16, ef_construction = /*ef*/ 64)
