-- Collections whose chunks have no vector index of the kind that their searches use.
-- row   object, detail, mend

SELECT
    k.name AS object,
    'has no vector index that its searches can use: each reads all of its chunks, about ' || greatest(c.reltuples, 0)::bigint AS detail,
    ARRAY[
        'CREATE INDEX CONCURRENTLY ' || quote_ident(k.chunk_table || '_embedding_hnsw') || ' ON pgbraid.' || quote_ident(k.chunk_table)
        || ' USING hnsw ((embedding::' || x.schema || '.' || k.index_storage || '(' || e.dimensions || ')) '
        || x.schema || '.' || k.index_storage || '_' || e.metric || '_ops) WITH (m = ' || k.index_m
        || ', ef_construction = ' || k.index_ef_construction || ')'
    ] AS mend
FROM pgbraid.collection AS k
INNER JOIN pgbraid.embedder AS e ON k.embedder_id = e.id
INNER JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass('pgbraid.' || quote_ident(k.chunk_table))
CROSS JOIN (
    SELECT quote_ident(n.nspname) AS schema
    FROM pg_catalog.pg_extension AS v INNER JOIN pg_catalog.pg_namespace AS n ON v.extnamespace = n.oid
    WHERE v.extname = 'vector'
) AS x
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_index AS i
    INNER JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[0]
    WHERE
        i.indrelid = c.oid
        AND o.opcname = k.index_storage || '_' || e.metric || '_ops'
        AND position(k.index_storage || '(' || e.dimensions || ')' IN pg_get_indexdef(i.indexrelid)) > 0
)
ORDER BY k.name
