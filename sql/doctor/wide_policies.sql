-- Further permissive policies on tables that keep tenants apart: PostgreSQL shows a row that any one of them allows.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'has a further policy, ' || p.polname || ', that also shows rows where ' || coalesce(pg_get_expr(p.polqual, c.oid), 'anything is true')
    AS detail,
    ARRAY['DROP POLICY ' || quote_ident(p.polname) || ' ON pgbraid.' || quote_ident(c.relname)] AS mend
FROM pg_catalog.pg_policy AS p
INNER JOIN pg_catalog.pg_class AS c ON p.polrelid = c.oid
WHERE
    c.relnamespace = to_regnamespace('pgbraid')
    AND p.polpermissive
    AND p.polname NOT IN ('tenant', 'upkeep')
    AND (
        c.relname IN ('document', 'chunk')
        OR EXISTS (
            SELECT FROM pgbraid.collection AS k
            WHERE k.tenants AND c.relname::text IN (k.document_table, k.chunk_table)
        )
    )
ORDER BY c.relname, p.polname
