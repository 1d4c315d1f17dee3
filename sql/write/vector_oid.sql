-- The oid of pgvector's type, for binary COPY.
-- param schema text
-- row   oid

SELECT t.oid
FROM pg_catalog.pg_type AS t
INNER JOIN pg_catalog.pg_namespace AS n ON t.typnamespace = n.oid
WHERE t.typname = 'vector' AND n.nspname = %(schema)s::text
