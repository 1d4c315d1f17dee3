-- Wait for all who write into a collection or keep it up, and keep others out until this transaction ends.
-- param collection_id bigint
-- row   locked

SELECT pg_advisory_xact_lock(hashtextextended('pgbraid.collection', %(collection_id)s::bigint)) AS locked
