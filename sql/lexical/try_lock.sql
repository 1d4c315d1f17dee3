-- Take the upkeep lock of a collection until the transaction ends; false when somebody else has it.
-- param collection_id bigint
-- row   taken

SELECT pg_try_advisory_xact_lock(hashtextextended('pgbraid.lexical', %(collection_id)s::bigint)) AS taken
