-- Whether a newer pgvector is installed on the server than this database uses.
-- row   object, detail, mend

SELECT
    e.name::text AS object,
    'is ' || e.installed_version || ' in this database, and ' || e.default_version || ' is installed on the server' AS detail,
    ARRAY['ALTER EXTENSION vector UPDATE'] AS mend
FROM pg_catalog.pg_available_extensions AS e
WHERE e.name = 'vector' AND e.installed_version <> e.default_version
