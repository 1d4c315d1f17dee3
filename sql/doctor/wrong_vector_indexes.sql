-- Vector indexes on chunks that no search uses: another type, length or distance than the collection's, or on the bare column.
-- row   object, detail, mend

SELECT
    x.relname::text AS object,
    'is made for other vectors or another distance than collection ' || k.name || ' searches by (' || k.index_storage || '(' || e.dimensions
    || '), ' || e.metric || '): no search uses it' AS detail,
    ARRAY['DROP INDEX CONCURRENTLY pgbraid.' || quote_ident(x.relname)] AS mend
FROM pgbraid.collection AS k
INNER JOIN pgbraid.embedder AS e ON k.embedder_id = e.id
INNER JOIN pg_catalog.pg_index AS i ON i.indrelid = to_regclass('pgbraid.' || quote_ident(k.chunk_table))
INNER JOIN pg_catalog.pg_class AS x ON i.indexrelid = x.oid
INNER JOIN pg_catalog.pg_am AS a ON x.relam = a.oid
INNER JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[0]
WHERE
    a.amname IN ('hnsw', 'ivfflat')
    AND (
        o.opcname <> k.index_storage || '_' || e.metric || '_ops'
        OR position(k.index_storage || '(' || e.dimensions || ')' IN pg_get_indexdef(i.indexrelid)) = 0
    )
ORDER BY x.relname
