-- The tables of pgbraid that this role owns and that have much to clear away or old statistics.
-- param dead    float8   share of dead rows from which a table is vacuumed
-- param changed float8   share of changed rows from which a table is analysed
-- row   name, vacuum

SELECT
    s.relname::text AS name,
    s.n_dead_tup > 100 + %(dead)s::float8 * s.n_live_tup AS vacuum
FROM pg_catalog.pg_stat_user_tables AS s
INNER JOIN pg_catalog.pg_class AS c ON s.relid = c.oid
WHERE
    s.schemaname = 'pgbraid'
    AND c.relkind = 'r'
    AND pg_has_role(c.relowner, 'USAGE')
    AND (
        s.n_dead_tup > 100 + %(dead)s::float8 * s.n_live_tup
        OR s.n_mod_since_analyze > 100 + %(changed)s::float8 * s.n_live_tup
    )
ORDER BY s.relname
