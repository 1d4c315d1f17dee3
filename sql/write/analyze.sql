-- Fresh statistics for the planner after many rows came.
-- hole table relation

ANALYZE /*table*/ pgbraid.chunk_1
