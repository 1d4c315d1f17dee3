-- The chain of selectors, in order, each with the embedder that it needs.
-- row kind, settings, embedder_id, embedder, embedder_kind, model, dimensions, metric, prefixes, max_tokens, fingerprint, options

SELECT
    s.kind,
    s.settings,
    e.id AS embedder_id,
    e.name AS embedder,
    e.kind AS embedder_kind,
    e.model,
    e.dimensions,
    e.metric,
    ARRAY[e.query_prefix, e.document_prefix] AS prefixes,
    e.max_tokens,
    e.fingerprint,
    e.options
FROM pgbraid.route_selector AS s
LEFT JOIN pgbraid.embedder AS e ON s.embedder_id = e.id
ORDER BY s.place
