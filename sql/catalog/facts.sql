-- What this server is: its version, where pgvector lives, and whether it is a Citus node.
-- row server_version, encoding, vector_schema, vector_version, citus

SELECT
    current_setting('server_version_num')::integer AS server_version,
    current_setting('server_encoding') AS encoding,
    (
        SELECT n.nspname
        FROM pg_catalog.pg_extension AS e
        INNER JOIN pg_catalog.pg_namespace AS n ON e.extnamespace = n.oid
        WHERE e.extname = 'vector'
    ) AS vector_schema,
    (SELECT e.extversion FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector') AS vector_version,
    EXISTS (SELECT FROM pg_catalog.pg_extension AS e WHERE e.extname = 'citus') AS citus
