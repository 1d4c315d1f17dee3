-- Tables of documents or chunks that no collection names.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'belongs to no collection and takes ' || pg_size_pretty(pg_total_relation_size(c.oid)) AS detail,
    ARRAY['DROP TABLE pgbraid.' || quote_ident(c.relname)] AS mend
FROM pg_catalog.pg_class AS c
WHERE
    c.relnamespace = to_regnamespace('pgbraid')
    AND c.relkind = 'r'
    AND c.relname ~ '^(document|chunk)_\d+$'
    AND NOT EXISTS (
        SELECT FROM pgbraid.collection AS k
        WHERE c.relname::text IN (k.document_table, k.chunk_table)
    )
ORDER BY c.relname
