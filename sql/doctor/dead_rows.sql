-- Tables of which more than a tenth is dead rows.
-- row   object, detail, mend

SELECT
    s.relname::text AS object,
    'has ' || s.n_dead_tup || ' dead rows beside ' || s.n_live_tup || ' live ones' AS detail,
    ARRAY['VACUUM (ANALYZE) pgbraid.' || quote_ident(s.relname)] AS mend
FROM pg_catalog.pg_stat_user_tables AS s
INNER JOIN pg_catalog.pg_class AS c ON s.relid = c.oid
WHERE s.schemaname = 'pgbraid' AND c.relkind = 'r' AND s.n_dead_tup > 100 + 0.1 * s.n_live_tup
ORDER BY s.relname
