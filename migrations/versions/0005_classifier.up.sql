-- Routing by a learned classifier: its versions, what each weighs, and which of them decides.

CREATE TABLE pgbraid.classifier (
    id bigint GENERATED ALWAYS AS IDENTITY,
    embedder_id bigint NOT NULL,
    learned_at timestamptz NOT NULL DEFAULT now(),
    report jsonb NOT NULL,
    questions bytea [] NOT NULL,
    CONSTRAINT classifier_pkey PRIMARY KEY (id),
    CONSTRAINT classifier_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder (id) ON DELETE CASCADE
);
-- serves the cascade when an embedder is dropped
CREATE INDEX classifier_embedder_btree ON pgbraid.classifier (embedder_id);
COMMENT ON TABLE pgbraid.classifier IS 'Versions of the classifier of questions, numbered by id.';
COMMENT ON COLUMN pgbraid.classifier.report IS 'How good it was on questions held out.';
COMMENT ON COLUMN pgbraid.classifier.questions IS
'SHA-256 of the questions that it learned from: it is compared with later versions on others.';

CREATE TABLE pgbraid.classifier_weight (
    classifier_id bigint NOT NULL,
    place integer NOT NULL,
    route_id bigint,
    bias double precision NOT NULL,
    weights /*ext*/ public.vector NOT NULL,
    CONSTRAINT classifier_weight_pkey PRIMARY KEY (classifier_id, place),
    CONSTRAINT classifier_weight_classifier_fkey FOREIGN KEY (classifier_id) REFERENCES pgbraid.classifier (id)
    ON DELETE CASCADE,
    CONSTRAINT classifier_weight_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route (id) ON DELETE CASCADE
);
-- Every question is multiplied with all of a version: they stay in the row.
ALTER TABLE pgbraid.classifier_weight ALTER COLUMN weights SET STORAGE MAIN;
ALTER TABLE pgbraid.classifier_weight SET (toast_tuple_target = 8160);
-- serves the cascade when a route is dropped
CREATE INDEX classifier_weight_route_btree ON pgbraid.classifier_weight (route_id);
COMMENT ON TABLE pgbraid.classifier_weight IS 'One vector and one bias for each route that a version can tell.';
COMMENT ON COLUMN pgbraid.classifier_weight.route_id IS 'Null for questions that belong to no route.';

CREATE TABLE pgbraid.classifier_activation (
    place bigint GENERATED ALWAYS AS IDENTITY,
    classifier_id bigint NOT NULL,
    activated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT classifier_activation_pkey PRIMARY KEY (place),
    CONSTRAINT classifier_activation_classifier_fkey FOREIGN KEY (classifier_id) REFERENCES pgbraid.classifier (id)
);
-- serves the question whether a version was ever activated
CREATE INDEX classifier_activation_classifier_btree ON pgbraid.classifier_activation (classifier_id);
COMMENT ON TABLE pgbraid.classifier_activation IS 'Which versions have decided, in order: the last one does. Going back removes it.';

ALTER TABLE pgbraid.route_selector DROP CONSTRAINT route_selector_kind_check;
ALTER TABLE pgbraid.route_selector
ADD CONSTRAINT route_selector_kind_check CHECK (kind IN ('rules', 'semantic', 'classifier'));
