-- Indexes that were broken off while they were built, and that nobody is building at the moment.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'was broken off while it was built: it serves nothing and slows every write down' AS detail,
    ARRAY[
        CASE WHEN c.relname ~ '_cc(new|old)\d*$' THEN 'DROP INDEX CONCURRENTLY pgbraid.' ELSE 'REINDEX INDEX CONCURRENTLY pgbraid.' END
        || quote_ident(c.relname)
    ] AS mend
FROM pg_catalog.pg_index AS i
INNER JOIN pg_catalog.pg_class AS c ON i.indexrelid = c.oid
WHERE
    c.relnamespace = to_regnamespace('pgbraid')
    AND c.relkind = 'i'
    AND NOT i.indisvalid
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index AS p WHERE p.index_relid = c.oid)
ORDER BY c.relname
