-- Vector indexes that were built with other settings than their collections declare.
-- row   object, detail, mend

SELECT
    x.relname::text AS object,
    'was built with ' || coalesce(array_to_string(x.reloptions, ', '), 'pgvector''s defaults') || '; collection ' || k.name
    || ' declares m=' || k.index_m || ', ef_construction=' || k.index_ef_construction AS detail,
    ARRAY[
        'ALTER INDEX pgbraid.' || quote_ident(x.relname) || ' SET (m = ' || k.index_m || ', ef_construction = '
        || k.index_ef_construction || ')',
        'REINDEX INDEX CONCURRENTLY pgbraid.' || quote_ident(x.relname)
    ] AS mend
FROM pgbraid.collection AS k
INNER JOIN pg_catalog.pg_index AS i ON i.indrelid = to_regclass('pgbraid.' || quote_ident(k.chunk_table))
INNER JOIN pg_catalog.pg_class AS x ON i.indexrelid = x.oid
INNER JOIN pg_catalog.pg_am AS a ON x.relam = a.oid
WHERE
    a.amname = 'hnsw'
    AND NOT coalesce(x.reloptions, '{}') @> ARRAY['m=' || k.index_m, 'ef_construction=' || k.index_ef_construction]
ORDER BY x.relname
