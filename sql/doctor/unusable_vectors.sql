-- Chunks of a collection whose vector is of another length than its embedder's, or zero where only directions count: no search by
-- meaning finds them. What is mended is embedded again by the next load.
-- row   object, detail, mend
-- hole  chunk relation
-- hole  ext schema

SELECT
    k.name AS object,
    'has ' || count(*) || ' chunks with a vector of another length, or zero' AS detail,
    CASE WHEN k.tenants THEN ARRAY['SET pgbraid.upkeep = ''on'''] ELSE '{}' END
    || (
        'WITH gone AS (DELETE FROM pgbraid.' || quote_ident(k.chunk_table) || ' WHERE ' || min(x.schema) || '.vector_dims(embedding) <> '
        || min(e.dimensions) || CASE WHEN min(e.metric) = 'cosine' THEN ' OR ' || min(x.schema) || '.vector_norm(embedding) = 0' ELSE '' END
        || ' RETURNING tenant, document_id) UPDATE pgbraid.' || quote_ident(k.document_table)
        || ' AS d SET hash = '''', chunk_count = d.chunk_count - lost.chunks FROM'
        || ' (SELECT tenant, document_id, count(*) AS chunks FROM gone GROUP BY tenant, document_id) AS lost'
        || ' WHERE d.tenant = lost.tenant AND d.id = lost.document_id'
    ) AS mend
FROM /*chunk*/ pgbraid.chunk AS c
INNER JOIN pgbraid.collection AS k ON c.collection_id = k.id
INNER JOIN pgbraid.embedder AS e ON k.embedder_id = e.id
CROSS JOIN (
    SELECT quote_ident(n.nspname) AS schema
    FROM pg_catalog.pg_extension AS v INNER JOIN pg_catalog.pg_namespace AS n ON v.extnamespace = n.oid
    WHERE v.extname = 'vector'
) AS x
WHERE
    /*ext*/ public.vector_dims(c.embedding) <> e.dimensions
    OR (e.metric = 'cosine' AND /*ext*/ public.vector_norm(c.embedding) = 0)
GROUP BY k.id
