-- Gather statistics, unless somebody is doing so.
-- hole table relation

ANALYZE (SKIP_LOCKED) /*table*/ pgbraid.chunk_1
