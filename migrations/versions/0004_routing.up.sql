-- Routing by example: the chain of selectors, the example questions of routes, and what stands for a route among vectors.

CREATE TABLE pgbraid.route_selector (
    place integer NOT NULL,
    kind text NOT NULL,
    settings jsonb NOT NULL DEFAULT '{}',
    embedder_id bigint,
    CONSTRAINT route_selector_pkey PRIMARY KEY (place),
    CONSTRAINT route_selector_kind_key UNIQUE (kind),
    CONSTRAINT route_selector_kind_check CHECK (kind IN ('rules', 'semantic')),
    CONSTRAINT route_selector_embedder_check CHECK ((kind = 'semantic') = (embedder_id IS NOT NULL)),
    CONSTRAINT route_selector_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder (id)
);
COMMENT ON TABLE pgbraid.route_selector IS 'The chain: who is asked to choose, in this order, until one does. Empty means the rules alone.';

CREATE TABLE pgbraid.route_example (
    route_id bigint NOT NULL,
    place integer NOT NULL,
    text text NOT NULL,
    CONSTRAINT route_example_pkey PRIMARY KEY (route_id, place),
    CONSTRAINT route_example_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route (id) ON DELETE CASCADE
);
COMMENT ON TABLE pgbraid.route_example IS 'Questions that belong to a route.';

CREATE TABLE pgbraid.route_vector (
    embedder_id bigint NOT NULL,
    hash bytea NOT NULL,
    embedding /*ext*/ public.vector NOT NULL,
    CONSTRAINT route_vector_pkey PRIMARY KEY (embedder_id, hash),
    CONSTRAINT route_vector_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder (id) ON DELETE CASCADE
);
COMMENT ON TABLE pgbraid.route_vector IS 'Examples and descriptions of routes, each embedded once.';
COMMENT ON COLUMN pgbraid.route_vector.hash IS 'SHA-256 of the text.';

CREATE TABLE pgbraid.route_prototype (
    route_id bigint NOT NULL,
    place integer NOT NULL,
    embedder_id bigint NOT NULL,
    embedding /*ext*/ public.vector NOT NULL,
    CONSTRAINT route_prototype_pkey PRIMARY KEY (route_id, place),
    CONSTRAINT route_prototype_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route (id) ON DELETE CASCADE,
    CONSTRAINT route_prototype_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder (id) ON DELETE CASCADE
);
-- Every question is compared with all of them: they stay in the row.
ALTER TABLE pgbraid.route_prototype ALTER COLUMN embedding SET STORAGE MAIN;
ALTER TABLE pgbraid.route_prototype SET (toast_tuple_target = 8160);
-- serves the cascade when an embedder is dropped
CREATE INDEX route_prototype_embedder_btree ON pgbraid.route_prototype (embedder_id);
COMMENT ON TABLE pgbraid.route_prototype IS 'What a question is compared with: the examples of a route, or the middles of groups of them.';
