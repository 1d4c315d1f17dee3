-- How the vector index of a chunk table stands: whether it is there, whether it can be used, whether somebody is building or
-- vacuuming at the moment, and whether this role may make it.
-- param table text
-- param index text
-- row   present, valid, busy, owned

SELECT
    i.indexrelid IS NOT NULL AS present,
    coalesce(i.indisvalid, false) AS valid,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_locks AS held
        WHERE
            held.relation = c.oid
            AND held.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
            AND held.mode = 'ShareUpdateExclusiveLock'
            AND held.granted
            AND held.pid <> pg_backend_pid()
    ) AS busy,
    pg_has_role(c.relowner, 'USAGE') AS owned
FROM pg_catalog.pg_class AS c
LEFT JOIN pg_catalog.pg_index AS i
    ON c.oid = i.indrelid AND i.indexrelid = to_regclass('pgbraid.' || quote_ident(%(index)s::text))
WHERE c.oid = to_regclass('pgbraid.' || quote_ident(%(table)s::text))
