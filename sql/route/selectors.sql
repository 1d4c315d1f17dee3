-- The chain of selectors, in order, each with the embedder that it needs, and for the classifier its active version.
-- row kind, settings, embedder_id, embedder, embedder_kind, model, dimensions, metric, prefixes, max_tokens, fingerprint
-- row options, classifier_id

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
    e.options,
    active.id AS classifier_id
FROM pgbraid.route_selector AS s
LEFT JOIN LATERAL (
    SELECT
        c.id,
        c.embedder_id
    FROM pgbraid.classifier_activation AS a
    INNER JOIN pgbraid.classifier AS c ON a.classifier_id = c.id
    WHERE s.kind = 'classifier'
    ORDER BY a.place DESC
    LIMIT 1
) AS active ON true
LEFT JOIN pgbraid.embedder AS e ON e.id = coalesce(s.embedder_id, active.embedder_id)
ORDER BY s.place
