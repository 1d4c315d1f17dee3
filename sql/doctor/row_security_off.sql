-- Tables that must keep tenants apart and do not: row security is off, or does not bind their owner.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    CASE WHEN c.relrowsecurity THEN 'lets its owner pass the row policies' ELSE 'has row security switched off' END
    || ': a query that forgets the tenant sees everybody''s rows' AS detail,
    ARRAY['ALTER TABLE pgbraid.' || quote_ident(c.relname) || ' ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'] AS mend
FROM pg_catalog.pg_class AS c
WHERE
    c.relnamespace = to_regnamespace('pgbraid')
    AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
    AND (
        c.relname IN ('document', 'chunk')
        OR EXISTS (
            SELECT FROM pgbraid.collection AS k
            WHERE k.tenants AND c.relname::text IN (k.document_table, k.chunk_table)
        )
    )
ORDER BY c.relname
