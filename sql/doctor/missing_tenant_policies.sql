-- Tables of collections with tenants that lack the policy by which a tenant's rows are told: nobody sees anything in them.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'has no policy for tenants' AS detail,
    ARRAY[
        'CREATE POLICY tenant ON pgbraid.' || quote_ident(c.relname)
        || ' USING (tenant = coalesce(current_setting(''pgbraid.tenant'', true), ''''))'
        || ' WITH CHECK (tenant = coalesce(current_setting(''pgbraid.tenant'', true), ''''))'
    ] AS mend
FROM pg_catalog.pg_class AS c
INNER JOIN pgbraid.collection AS k ON c.relname::text IN (k.document_table, k.chunk_table)
WHERE
    k.tenants
    AND c.relnamespace = to_regnamespace('pgbraid')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS p WHERE p.polrelid = c.oid AND p.polname = 'tenant')
ORDER BY c.relname
