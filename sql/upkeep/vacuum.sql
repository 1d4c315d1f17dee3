-- Clear dead rows away and gather statistics, unless somebody is doing so. Runs in no transaction.
-- hole table relation

VACUUM (ANALYZE, SKIP_LOCKED) /*table*/ pgbraid.chunk_1
