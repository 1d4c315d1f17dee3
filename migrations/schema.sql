-- What the migrations make, dumped by: make schema-dump. Not run by anything; a test keeps it true.

CREATE SCHEMA pgbraid;

CREATE FUNCTION pgbraid.pairs_v1(body text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE
        WHEN body !~ '[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uffdc\U00020000-\U0003134f]'
            THEN body
        ELSE (
            SELECT string_agg(
                CASE
                    WHEN NOT wide AND wide_before THEN ' ' || letter
                    WHEN NOT wide THEN letter
                    WHEN wide_after THEN ' ' || letter || letter_after
                    WHEN NOT wide_before THEN ' ' || letter
                    ELSE ''
                END, '' ORDER BY place)
            FROM (
                SELECT place, letter, wide,
                    lag(wide, 1, false) OVER by_place AS wide_before,
                    lead(wide, 1, false) OVER by_place AS wide_after,
                    lead(letter) OVER by_place AS letter_after
                FROM (
                    SELECT place, letter,
                        letter ~ '[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]' AS wide
                    FROM string_to_table(normalize(body, NFKC), NULL) WITH ORDINALITY AS letters (letter, place)
                ) AS judged
                WINDOW by_place AS (ORDER BY place)
            ) AS neighbours
        )
    END
$$;

CREATE FUNCTION pgbraid.words_v1(text_config text, body text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT to_tsvector(text_config::regconfig, pgbraid.pairs_v1(body))
$$;

CREATE TABLE pgbraid.alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE pgbraid.checkpoint (
    collection_id bigint NOT NULL,
    name text NOT NULL,
    "position" bigint NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT checkpoint_position_check CHECK (("position" >= 0))
);

COMMENT ON TABLE pgbraid.checkpoint IS 'A load that has not come to its end: how many of its documents are written.';

CREATE TABLE pgbraid.chunk (
    collection_id bigint NOT NULL,
    tenant text DEFAULT ''::text NOT NULL,
    document_id bigint NOT NULL,
    ordinal integer NOT NULL,
    start_at integer NOT NULL,
    end_at integer NOT NULL,
    length integer NOT NULL,
    text_config text NOT NULL,
    hash bytea NOT NULL,
    headings text[] DEFAULT '{}'::text[] NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    terms public.sparsevec NOT NULL,
    context text DEFAULT ''::text NOT NULL,
    text text NOT NULL,
    embedding public.vector NOT NULL,
    words tsvector GENERATED ALWAYS AS (pgbraid.words_v1(text_config, ((context || '
'::text) || text))) STORED NOT NULL,
    CONSTRAINT chunk_span_check CHECK (((start_at >= 0) AND (end_at > start_at)))
)
PARTITION BY LIST (collection_id);
ALTER TABLE ONLY pgbraid.chunk ALTER COLUMN terms SET STORAGE MAIN;

ALTER TABLE ONLY pgbraid.chunk FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE pgbraid.chunk IS 'The child: what is embedded and matched. One partition a collection.';

COMMENT ON COLUMN pgbraid.chunk.start_at IS 'Characters before the chunk in document.text; text is document.text[start_at:end_at].';

COMMENT ON COLUMN pgbraid.chunk.length IS 'Words in the chunk, repeated ones counted.';

COMMENT ON COLUMN pgbraid.chunk.terms IS 'Document side of BM25: lexeme id to the saturated, length-normalised frequency.';

CREATE TABLE pgbraid.classifier (
    id bigint NOT NULL,
    embedder_id bigint NOT NULL,
    learned_at timestamp with time zone DEFAULT now() NOT NULL,
    report jsonb NOT NULL,
    questions bytea[] NOT NULL
);

COMMENT ON TABLE pgbraid.classifier IS 'Versions of the classifier of questions, numbered by id.';

COMMENT ON COLUMN pgbraid.classifier.report IS 'How good it was on questions held out.';

COMMENT ON COLUMN pgbraid.classifier.questions IS 'SHA-256 of the questions that it learned from: it is compared with later versions on others.';

CREATE TABLE pgbraid.classifier_activation (
    place bigint NOT NULL,
    classifier_id bigint NOT NULL,
    activated_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE pgbraid.classifier_activation IS 'Which versions have decided, in order: the last one does. Going back removes it.';

ALTER TABLE pgbraid.classifier_activation ALTER COLUMN place ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgbraid.classifier_activation_place_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE pgbraid.classifier ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pgbraid.classifier_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pgbraid.classifier_weight (
    classifier_id bigint NOT NULL,
    place integer NOT NULL,
    route_id bigint,
    bias double precision NOT NULL,
    weights public.vector NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY pgbraid.classifier_weight ALTER COLUMN weights SET STORAGE MAIN;

COMMENT ON TABLE pgbraid.classifier_weight IS 'One vector and one bias for each route that a version can tell.';

COMMENT ON COLUMN pgbraid.classifier_weight.route_id IS 'Null for questions that belong to no route.';

CREATE TABLE pgbraid.collection (
    id bigint NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    language text NOT NULL,
    text_config text NOT NULL,
    embedder_id bigint NOT NULL,
    chunk_tokens integer NOT NULL,
    chunk_overlap integer NOT NULL,
    index_storage text NOT NULL,
    index_m integer NOT NULL,
    index_ef_construction integer NOT NULL,
    ef_search integer NOT NULL,
    exact_below integer NOT NULL,
    k1 double precision DEFAULT 1.2 NOT NULL,
    b double precision DEFAULT 0.75 NOT NULL,
    tenants boolean DEFAULT false NOT NULL,
    average_length double precision DEFAULT 0 NOT NULL,
    document_table text DEFAULT ''::text NOT NULL,
    chunk_table text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT collection_b_check CHECK (((b >= (0)::double precision) AND (b <= (1)::double precision))),
    CONSTRAINT collection_chunk_overlap_check CHECK (((chunk_overlap >= 0) AND (chunk_overlap <= (chunk_tokens / 2)))),
    CONSTRAINT collection_chunk_tokens_check CHECK (((chunk_tokens >= 8) AND (chunk_tokens <= 8192))),
    CONSTRAINT collection_ef_search_check CHECK (((ef_search >= 1) AND (ef_search <= 1000))),
    CONSTRAINT collection_exact_below_check CHECK ((exact_below >= 0)),
    CONSTRAINT collection_index_ef_construction_check CHECK ((((index_ef_construction >= 4) AND (index_ef_construction <= 1000)) AND (index_ef_construction >= (2 * index_m)))),
    CONSTRAINT collection_index_m_check CHECK (((index_m >= 2) AND (index_m <= 100))),
    CONSTRAINT collection_index_storage_check CHECK ((index_storage = ANY (ARRAY['halfvec'::text, 'vector'::text]))),
    CONSTRAINT collection_k1_check CHECK (((k1 >= (0)::double precision) AND (k1 <= (10)::double precision))),
    CONSTRAINT collection_name_check CHECK (((name <> ''::text) AND (length(name) <= 100)))
);

COMMENT ON TABLE pgbraid.collection IS 'A named knowledge base: its own embedder, language, chunking and tables.';

COMMENT ON COLUMN pgbraid.collection.tenants IS 'Whether the collection keeps tenants apart, by row policies. Without, it has no tenants and every reader sees all of it.';

COMMENT ON COLUMN pgbraid.collection.average_length IS 'Words in an average chunk when the weights in chunk.terms were computed; refreshed by lexical upkeep.';

COMMENT ON COLUMN pgbraid.collection.chunk_table IS 'The live chunk partition. Its name changes when a collection is re-embedded.';

CREATE TABLE pgbraid.collection_change (
    collection_id bigint NOT NULL,
    id bigint NOT NULL,
    documents bigint NOT NULL,
    chunks bigint NOT NULL,
    length bigint NOT NULL
);

COMMENT ON TABLE pgbraid.collection_change IS 'Sums to the documents, chunks and words of a collection; its newest id is the revision of the collection.';

ALTER TABLE pgbraid.collection_change ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pgbraid.collection_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE pgbraid.collection ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pgbraid.collection_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pgbraid.document (
    collection_id bigint NOT NULL,
    tenant text DEFAULT ''::text NOT NULL,
    id bigint NOT NULL,
    external_id text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    text text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    hash bytea NOT NULL,
    chunk_count integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
)
PARTITION BY LIST (collection_id);

ALTER TABLE ONLY pgbraid.document FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE pgbraid.document IS 'The parent: what a person wrote, what a prompt gets. One partition a collection.';

COMMENT ON COLUMN pgbraid.document.id IS 'Derived from tenant and external_id (pgbraid.values.document_id), so the key itself keeps a document from being there twice.';

COMMENT ON COLUMN pgbraid.document.hash IS 'SHA-256 of title, text, headings and metadata: decides whether anything changed.';

CREATE TABLE pgbraid.embedder (
    id bigint NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    model text NOT NULL,
    dimensions integer NOT NULL,
    metric text DEFAULT 'cosine'::text NOT NULL,
    query_prefix text DEFAULT ''::text NOT NULL,
    document_prefix text DEFAULT ''::text NOT NULL,
    max_tokens integer DEFAULT 0 NOT NULL,
    fingerprint text NOT NULL,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedder_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4000))),
    CONSTRAINT embedder_metric_check CHECK ((metric = ANY (ARRAY['cosine'::text, 'ip'::text, 'l2'::text]))),
    CONSTRAINT embedder_name_check CHECK (((name <> ''::text) AND (length(name) <= 100)))
);

COMMENT ON TABLE pgbraid.embedder IS 'A model that turns texts into vectors: how to load it and what it must be.';

COMMENT ON COLUMN pgbraid.embedder.fingerprint IS 'Changes whenever the same text would give another vector.';

ALTER TABLE pgbraid.embedder ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pgbraid.embedder_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pgbraid.lexeme (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    word text NOT NULL,
    chunks bigint DEFAULT 0 NOT NULL
);

COMMENT ON COLUMN pgbraid.lexeme.chunks IS 'Chunks that hold the word, as of the last lexical upkeep; lexeme_change has the rest.';

CREATE TABLE pgbraid.lexeme_change (
    collection_id bigint NOT NULL,
    lexeme_id bigint NOT NULL,
    chunks integer NOT NULL
);

ALTER TABLE pgbraid.lexeme ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pgbraid.lexeme_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 1000000000
    CACHE 1
);

CREATE TABLE pgbraid.profile (
    name text NOT NULL,
    settings jsonb NOT NULL
);

COMMENT ON TABLE pgbraid.profile IS 'How to retrieve: top_k, thresholds, fusion, rerank.';

CREATE TABLE pgbraid.rerank_score (
    key bytea NOT NULL,
    scores double precision[] NOT NULL,
    size integer DEFAULT 0 NOT NULL,
    kept_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE pgbraid.rerank_score IS 'Rerank scores of pairs of question and text, where the setting rerank_cache_table asks for it. May be emptied.';

COMMENT ON COLUMN pgbraid.rerank_score.key IS 'A digest of the reranker''s identity, how long texts are treated, the question and the text; neither can be read from it.';

COMMENT ON COLUMN pgbraid.rerank_score.scores IS 'A score for each window of the text.';

COMMENT ON COLUMN pgbraid.rerank_score.size IS 'How long the text was, where it was too long; else 0.';

CREATE TABLE pgbraid.route (
    id bigint NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    profile text,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT route_name_check CHECK (((name <> ''::text) AND (length(name) <= 100)))
);

COMMENT ON TABLE pgbraid.route IS 'When its rules match, which collections are asked, and with which profile.';

CREATE TABLE pgbraid.route_alias (
    alias text NOT NULL,
    collection_id bigint NOT NULL
);

COMMENT ON TABLE pgbraid.route_alias IS 'Another name that means a collection.';

CREATE TABLE pgbraid.route_collection (
    route_id bigint NOT NULL,
    collection_id bigint NOT NULL
);

CREATE TABLE pgbraid.route_example (
    route_id bigint NOT NULL,
    place integer NOT NULL,
    text text NOT NULL
);

COMMENT ON TABLE pgbraid.route_example IS 'Questions that belong to a route.';

ALTER TABLE pgbraid.route ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pgbraid.route_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pgbraid.route_prototype (
    route_id bigint NOT NULL,
    place integer NOT NULL,
    embedder_id bigint NOT NULL,
    embedding public.vector NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY pgbraid.route_prototype ALTER COLUMN embedding SET STORAGE MAIN;

COMMENT ON TABLE pgbraid.route_prototype IS 'What a question is compared with: the examples of a route, or the middles of groups of them.';

CREATE TABLE pgbraid.route_rule (
    route_id bigint NOT NULL,
    place integer NOT NULL,
    mode text NOT NULL,
    kind text NOT NULL,
    pattern text NOT NULL,
    expression text NOT NULL,
    CONSTRAINT route_rule_kind_check CHECK ((kind = ANY (ARRAY['keyword'::text, 'regex'::text]))),
    CONSTRAINT route_rule_mode_check CHECK ((mode = ANY (ARRAY['any'::text, 'all'::text, 'none'::text])))
);

COMMENT ON COLUMN pgbraid.route_rule.pattern IS 'What was written.';

COMMENT ON COLUMN pgbraid.route_rule.expression IS 'The regular expression that is matched, without regard to case.';

CREATE TABLE pgbraid.route_selector (
    place integer NOT NULL,
    kind text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    embedder_id bigint,
    CONSTRAINT route_selector_embedder_check CHECK (((kind = 'semantic'::text) = (embedder_id IS NOT NULL))),
    CONSTRAINT route_selector_kind_check CHECK ((kind = ANY (ARRAY['rules'::text, 'semantic'::text, 'classifier'::text])))
);

COMMENT ON TABLE pgbraid.route_selector IS 'The chain: who is asked to choose, in this order, until one does. Empty means the rules alone.';

CREATE TABLE pgbraid.route_vector (
    embedder_id bigint NOT NULL,
    hash bytea NOT NULL,
    embedding public.vector NOT NULL
);

COMMENT ON TABLE pgbraid.route_vector IS 'Examples and descriptions of routes, each embedded once.';

COMMENT ON COLUMN pgbraid.route_vector.hash IS 'SHA-256 of the text.';

CREATE TABLE pgbraid.routing (
    id smallint DEFAULT 1 NOT NULL,
    policy text DEFAULT 'all'::text NOT NULL,
    route_id bigint,
    CONSTRAINT routing_policy_check CHECK ((policy = ANY (ARRAY['all'::text, 'none'::text, 'error'::text, 'route'::text]))),
    CONSTRAINT routing_route_check CHECK (((policy = 'route'::text) = (route_id IS NOT NULL))),
    CONSTRAINT routing_single_check CHECK ((id = 1))
);

COMMENT ON TABLE pgbraid.routing IS 'One row: what happens when no route matches.';

ALTER TABLE ONLY pgbraid.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY pgbraid.checkpoint
    ADD CONSTRAINT checkpoint_pkey PRIMARY KEY (collection_id, name);

ALTER TABLE ONLY pgbraid.chunk
    ADD CONSTRAINT chunk_pkey PRIMARY KEY (collection_id, tenant, document_id, ordinal);

ALTER TABLE ONLY pgbraid.classifier_activation
    ADD CONSTRAINT classifier_activation_pkey PRIMARY KEY (place);

ALTER TABLE ONLY pgbraid.classifier
    ADD CONSTRAINT classifier_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgbraid.classifier_weight
    ADD CONSTRAINT classifier_weight_pkey PRIMARY KEY (classifier_id, place);

ALTER TABLE ONLY pgbraid.collection_change
    ADD CONSTRAINT collection_change_pkey PRIMARY KEY (collection_id, id);

ALTER TABLE ONLY pgbraid.collection
    ADD CONSTRAINT collection_name_key UNIQUE (name);

ALTER TABLE ONLY pgbraid.collection
    ADD CONSTRAINT collection_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgbraid.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (collection_id, tenant, id);

ALTER TABLE ONLY pgbraid.embedder
    ADD CONSTRAINT embedder_name_key UNIQUE (name);

ALTER TABLE ONLY pgbraid.embedder
    ADD CONSTRAINT embedder_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgbraid.lexeme
    ADD CONSTRAINT lexeme_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgbraid.profile
    ADD CONSTRAINT profile_pkey PRIMARY KEY (name);

ALTER TABLE ONLY pgbraid.rerank_score
    ADD CONSTRAINT rerank_score_pkey PRIMARY KEY (key);

ALTER TABLE ONLY pgbraid.route_alias
    ADD CONSTRAINT route_alias_pkey PRIMARY KEY (alias);

ALTER TABLE ONLY pgbraid.route_collection
    ADD CONSTRAINT route_collection_pkey PRIMARY KEY (route_id, collection_id);

ALTER TABLE ONLY pgbraid.route_example
    ADD CONSTRAINT route_example_pkey PRIMARY KEY (route_id, place);

ALTER TABLE ONLY pgbraid.route
    ADD CONSTRAINT route_name_key UNIQUE (name);

ALTER TABLE ONLY pgbraid.route
    ADD CONSTRAINT route_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pgbraid.route_prototype
    ADD CONSTRAINT route_prototype_pkey PRIMARY KEY (route_id, place);

ALTER TABLE ONLY pgbraid.route_rule
    ADD CONSTRAINT route_rule_pkey PRIMARY KEY (route_id, place);

ALTER TABLE ONLY pgbraid.route_selector
    ADD CONSTRAINT route_selector_kind_key UNIQUE (kind);

ALTER TABLE ONLY pgbraid.route_selector
    ADD CONSTRAINT route_selector_pkey PRIMARY KEY (place);

ALTER TABLE ONLY pgbraid.route_vector
    ADD CONSTRAINT route_vector_pkey PRIMARY KEY (embedder_id, hash);

ALTER TABLE ONLY pgbraid.routing
    ADD CONSTRAINT routing_pkey PRIMARY KEY (id);

CREATE INDEX classifier_activation_classifier_btree ON pgbraid.classifier_activation USING btree (classifier_id);

CREATE INDEX classifier_embedder_btree ON pgbraid.classifier USING btree (embedder_id);

CREATE INDEX classifier_weight_route_btree ON pgbraid.classifier_weight USING btree (route_id);

CREATE INDEX lexeme_change_lexeme_btree ON pgbraid.lexeme_change USING btree (collection_id, lexeme_id) INCLUDE (chunks);

CREATE INDEX lexeme_word_btree ON pgbraid.lexeme USING btree (collection_id, word) INCLUDE (id, chunks);

CREATE INDEX rerank_score_kept_at_btree ON pgbraid.rerank_score USING btree (kept_at);

CREATE INDEX route_alias_collection_btree ON pgbraid.route_alias USING btree (collection_id);

CREATE INDEX route_collection_collection_btree ON pgbraid.route_collection USING btree (collection_id);

CREATE INDEX route_prototype_embedder_btree ON pgbraid.route_prototype USING btree (embedder_id);

ALTER TABLE ONLY pgbraid.checkpoint
    ADD CONSTRAINT checkpoint_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection(id) ON DELETE CASCADE;

ALTER TABLE pgbraid.chunk
    ADD CONSTRAINT chunk_document_fkey FOREIGN KEY (collection_id, tenant, document_id) REFERENCES pgbraid.document(collection_id, tenant, id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.classifier_activation
    ADD CONSTRAINT classifier_activation_classifier_fkey FOREIGN KEY (classifier_id) REFERENCES pgbraid.classifier(id);

ALTER TABLE ONLY pgbraid.classifier
    ADD CONSTRAINT classifier_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.classifier_weight
    ADD CONSTRAINT classifier_weight_classifier_fkey FOREIGN KEY (classifier_id) REFERENCES pgbraid.classifier(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.classifier_weight
    ADD CONSTRAINT classifier_weight_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.collection_change
    ADD CONSTRAINT collection_change_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.collection
    ADD CONSTRAINT collection_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder(id);

ALTER TABLE ONLY pgbraid.lexeme_change
    ADD CONSTRAINT lexeme_change_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.lexeme
    ADD CONSTRAINT lexeme_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_alias
    ADD CONSTRAINT route_alias_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_collection
    ADD CONSTRAINT route_collection_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_collection
    ADD CONSTRAINT route_collection_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_example
    ADD CONSTRAINT route_example_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route
    ADD CONSTRAINT route_profile_fkey FOREIGN KEY (profile) REFERENCES pgbraid.profile(name);

ALTER TABLE ONLY pgbraid.route_prototype
    ADD CONSTRAINT route_prototype_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_prototype
    ADD CONSTRAINT route_prototype_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_rule
    ADD CONSTRAINT route_rule_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.route_selector
    ADD CONSTRAINT route_selector_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder(id);

ALTER TABLE ONLY pgbraid.route_vector
    ADD CONSTRAINT route_vector_embedder_fkey FOREIGN KEY (embedder_id) REFERENCES pgbraid.embedder(id) ON DELETE CASCADE;

ALTER TABLE ONLY pgbraid.routing
    ADD CONSTRAINT routing_route_fkey FOREIGN KEY (route_id) REFERENCES pgbraid.route(id);

ALTER TABLE pgbraid.chunk ENABLE ROW LEVEL SECURITY;

ALTER TABLE pgbraid.document ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant ON pgbraid.chunk USING ((tenant = COALESCE(current_setting('pgbraid.tenant'::text, true), ''::text))) WITH CHECK ((tenant = COALESCE(current_setting('pgbraid.tenant'::text, true), ''::text)));

CREATE POLICY tenant ON pgbraid.document USING ((tenant = COALESCE(current_setting('pgbraid.tenant'::text, true), ''::text))) WITH CHECK ((tenant = COALESCE(current_setting('pgbraid.tenant'::text, true), ''::text)));
