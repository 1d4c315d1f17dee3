-- Tables whose statistics are missing, or older than a tenth of their rows.
-- row   object, detail, mend

SELECT
    s.relname::text AS object,
    CASE
        WHEN coalesce(s.last_analyze, s.last_autoanalyze) IS NULL THEN 'has no statistics, so plans are guesses'
        ELSE 'has changed in ' || s.n_mod_since_analyze || ' of ' || s.n_live_tup || ' rows since its statistics were gathered'
    END AS detail,
    ARRAY['ANALYZE pgbraid.' || quote_ident(s.relname)] AS mend
FROM pg_catalog.pg_stat_user_tables AS s
INNER JOIN pg_catalog.pg_class AS c ON s.relid = c.oid
WHERE s.schemaname = 'pgbraid' AND c.relkind = 'r' AND s.n_mod_since_analyze > 100 + 0.1 * s.n_live_tup
ORDER BY s.relname
