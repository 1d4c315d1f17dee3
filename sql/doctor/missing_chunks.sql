-- Documents of a collection that have fewer or more chunks than they say. What is mended is written again by the next load.
-- row   object, detail, mend
-- hole  document relation
-- hole  chunk relation

SELECT
    k.name AS object,
    'has ' || count(*) || ' documents with other chunks than they say, such as ' || quote_literal(min(d.external_id)) AS detail,
    CASE WHEN k.tenants THEN ARRAY['SET pgbraid.upkeep = ''on'''] ELSE '{}' END
    || (
        'UPDATE pgbraid.' || quote_ident(k.document_table) || ' AS d SET hash = '''', chunk_count = found.chunks FROM '
        || '(SELECT w.tenant, w.id, count(c.ordinal) AS chunks FROM pgbraid.' || quote_ident(k.document_table) || ' AS w LEFT JOIN pgbraid.'
        || quote_ident(k.chunk_table) || ' AS c ON c.tenant = w.tenant AND c.document_id = w.id GROUP BY w.tenant, w.id) AS found'
        || ' WHERE found.tenant = d.tenant AND found.id = d.id AND found.chunks <> d.chunk_count'
    ) AS mend
FROM /*document*/ pgbraid.document AS d
INNER JOIN pgbraid.collection AS k ON d.collection_id = k.id
LEFT JOIN (
    SELECT
        c.tenant,
        c.document_id,
        count(*) AS chunks
    FROM /*chunk*/ pgbraid.chunk AS c
    GROUP BY c.tenant, c.document_id
) AS found ON d.tenant = found.tenant AND d.id = found.document_id
WHERE coalesce(found.chunks, 0) <> d.chunk_count
GROUP BY k.id
