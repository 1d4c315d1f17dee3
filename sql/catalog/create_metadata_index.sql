-- Serves metadata filters on equal values.
-- hole index name
-- hole table relation

CREATE INDEX /*index*/ chunk_1_metadata_gin ON /*table*/ pgbraid.chunk_1 USING gin (metadata jsonb_path_ops)
