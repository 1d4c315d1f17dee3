-- Whether the largest vector index fits into the memory that building it may take; beyond that a build is many times slower.
-- row   object, detail, mend

SELECT
    s.name::text AS object,
    'is ' || current_setting('maintenance_work_mem') || ', and the largest vector index, ' || largest.relname || ', takes '
    || pg_size_pretty(largest.size) || ': building it anew will be slow' AS detail,
    ARRAY[
        'ALTER SYSTEM SET maintenance_work_mem = ' || quote_literal(ceil(largest.size * 1.3 / 1048576) || 'MB'), 'SELECT pg_reload_conf()'
    ] AS mend
FROM pg_catalog.pg_settings AS s
CROSS JOIN (
    SELECT
        c.relname::text AS relname,
        pg_relation_size(c.oid) AS size
    FROM pg_catalog.pg_class AS c
    INNER JOIN pg_catalog.pg_am AS a ON c.relam = a.oid
    WHERE c.relnamespace = to_regnamespace('pgbraid') AND a.amname = 'hnsw' AND c.relkind = 'i'
    ORDER BY size DESC
    LIMIT 1
) AS largest
WHERE s.name = 'maintenance_work_mem' AND s.setting::bigint * 1024 < largest.size
