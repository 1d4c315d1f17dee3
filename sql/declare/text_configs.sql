-- Every text search configuration, with its schema unless it is PostgreSQL's own.
-- row name

SELECT
    CASE WHEN n.nspname = 'pg_catalog' THEN c.cfgname::text ELSE n.nspname || '.' || c.cfgname END AS name
FROM pg_catalog.pg_ts_config AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.cfgnamespace = n.oid
ORDER BY name
