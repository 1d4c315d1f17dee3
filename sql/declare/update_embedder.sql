-- Write how an embedder is loaded; its vectors stay what they are, so dimensions, metric and fingerprint are not touched.
-- param name            text
-- param kind            text
-- param model           text
-- param query_prefix    text
-- param document_prefix text
-- param max_tokens      integer
-- param options         jsonb
-- row   id

UPDATE pgbraid.embedder
SET
    kind = %(kind)s::text,
    model = %(model)s::text,
    query_prefix = %(query_prefix)s::text,
    document_prefix = %(document_prefix)s::text,
    max_tokens = %(max_tokens)s::integer,
    options = %(options)s::jsonb
WHERE name = %(name)s::text
RETURNING id
