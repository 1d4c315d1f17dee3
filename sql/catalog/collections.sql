-- Every collection that this role may read, with its embedder and its counts.
-- row id, name, description, language, text_config, chunk_tokens, chunk_overlap, index_storage, index_m,
-- row index_ef_construction, ef_search, exact_below, k1, b, tenants, average_length, document_table, chunk_table,
-- row embedder_id, embedder, kind, model, dimensions, metric, query_prefix, document_prefix, max_tokens,
-- row fingerprint, options, documents, chunks, length, revision

SELECT
    c.id,
    c.name,
    c.description,
    c.language,
    c.text_config,
    c.chunk_tokens,
    c.chunk_overlap,
    c.index_storage,
    c.index_m,
    c.index_ef_construction,
    c.ef_search,
    c.exact_below,
    c.k1,
    c.b,
    c.tenants,
    c.average_length,
    c.document_table,
    c.chunk_table,
    e.id AS embedder_id,
    e.name AS embedder,
    e.kind,
    e.model,
    e.dimensions,
    e.metric,
    e.query_prefix,
    e.document_prefix,
    e.max_tokens,
    e.fingerprint,
    e.options,
    coalesce(total.documents, 0)::bigint AS documents,
    coalesce(total.chunks, 0)::bigint AS chunks,
    coalesce(total.length, 0)::bigint AS length,
    coalesce(total.revision, 0)::bigint AS revision
FROM pgbraid.collection AS c
INNER JOIN pgbraid.embedder AS e ON c.embedder_id = e.id
LEFT JOIN LATERAL (
    SELECT
        sum(change.documents) AS documents,
        sum(change.chunks) AS chunks,
        sum(change.length) AS length,
        max(change.id) AS revision
    FROM pgbraid.collection_change AS change
    WHERE change.collection_id = c.id
) AS total ON true
WHERE
    has_table_privilege(to_regclass('pgbraid.' || quote_ident(c.document_table)), 'SELECT')
    AND has_table_privilege(to_regclass('pgbraid.' || quote_ident(c.chunk_table)), 'SELECT')
ORDER BY c.name
