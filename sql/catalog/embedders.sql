-- Every embedder, by name.
-- row id, name, kind, model, dimensions, metric, query_prefix, document_prefix, max_tokens, fingerprint, options

SELECT
    e.id,
    e.name,
    e.kind,
    e.model,
    e.dimensions,
    e.metric,
    e.query_prefix,
    e.document_prefix,
    e.max_tokens,
    e.fingerprint,
    e.options
FROM pgbraid.embedder AS e
ORDER BY e.name
