-- Keep a collection from being dropped until this transaction ends. Taken before any of its tables, since whoever drops it wants
-- them all: two that wait for each other's tables would be a deadlock.
-- param collection_id bigint
-- row   held

SELECT pg_advisory_xact_lock_shared(hashtextextended('pgbraid.collection', %(collection_id)s::bigint)) AS held
