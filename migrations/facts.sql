-- What this database is: read before anything is checked or changed. Always one row.
SELECT
    pg_catalog.current_database() AS database,
    current_user AS role,
    pg_catalog.current_setting('server_version_num')::int AS server,
    pg_catalog.getdatabaseencoding() AS encoding,
    (SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'vector') AS vector,
    (
        SELECT n.nspname FROM pg_catalog.pg_extension AS e
        JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
        WHERE e.extname = 'vector'
    ) AS vector_schema,
    (SELECT default_version FROM pg_catalog.pg_available_extensions WHERE name = 'vector') AS vector_available,
    (
        SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'pgbraid' AND c.relname = 'alembic_version'
    ) AS readable
