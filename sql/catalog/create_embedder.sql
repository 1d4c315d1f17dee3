-- Register an embedder; nothing comes back when the name is taken.
-- param name            text
-- param kind            text
-- param model           text
-- param dimensions      integer
-- param metric          text     cosine, ip or l2
-- param query_prefix    text
-- param document_prefix text
-- param max_tokens      integer
-- param fingerprint     text
-- param options         jsonb
-- row   id

INSERT INTO pgbraid.embedder (
    name, kind, model, dimensions, metric, query_prefix, document_prefix, max_tokens, fingerprint, options
)
VALUES (
    %(name)s::text,
    %(kind)s::text,
    %(model)s::text,
    %(dimensions)s::integer,
    %(metric)s::text,
    %(query_prefix)s::text,
    %(document_prefix)s::text,
    %(max_tokens)s::integer,
    %(fingerprint)s::text,
    %(options)s::jsonb
)
ON CONFLICT ON CONSTRAINT embedder_name_key DO NOTHING
RETURNING id
