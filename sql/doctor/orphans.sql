-- Chunks of a collection whose document does not exist: they are found, and nothing can be shown for them.
-- row   object, detail, mend
-- hole  document relation
-- hole  chunk relation

SELECT
    k.name AS object,
    'has ' || count(*) || ' chunks without their document' AS detail,
    CASE WHEN k.tenants THEN ARRAY['SET pgbraid.upkeep = ''on'''] ELSE '{}' END
    || (
        'DELETE FROM pgbraid.' || quote_ident(k.chunk_table) || ' AS c WHERE NOT EXISTS (SELECT FROM pgbraid.'
        || quote_ident(k.document_table) || ' AS d WHERE d.collection_id = c.collection_id'
        || ' AND d.tenant = c.tenant AND d.id = c.document_id)'
    ) AS mend
FROM /*chunk*/ pgbraid.chunk AS c
INNER JOIN pgbraid.collection AS k ON c.collection_id = k.id
WHERE NOT EXISTS (
    SELECT FROM /*document*/ pgbraid.document AS d
    WHERE d.collection_id = c.collection_id AND d.tenant = c.tenant AND d.id = c.document_id
)
GROUP BY k.id
