-- Documents and their chunks, one partition of each a collection, and the words of each collection.

-- Chinese, Japanese and Korean are written without spaces between words. Every two neighbouring characters become
-- a word of their own ("合同审批" gives "合同 同审 审批"), a lone one stays as it is, and a space is put where the
-- script changes. Text without such characters comes back unchanged, but for full-width forms.
CREATE FUNCTION pgbraid.pairs_v1(body text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
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

-- The words of a text under a text search configuration. Immutable in practice: a configuration is named with its
-- schema unless it is one of PostgreSQL's own, and a collection never changes its configuration in place.
CREATE FUNCTION pgbraid.words_v1(text_config text, body text) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_tsvector(text_config::regconfig, pgbraid.pairs_v1(body))
$$;

CREATE TABLE pgbraid.document (
    collection_id bigint NOT NULL,
    tenant text NOT NULL DEFAULT '',
    id bigint NOT NULL,
    external_id text NOT NULL,
    title text NOT NULL DEFAULT '',
    text text NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    hash bytea NOT NULL,
    chunk_count integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT document_pkey PRIMARY KEY (collection_id, tenant, id)
) PARTITION BY LIST (collection_id);
COMMENT ON TABLE pgbraid.document IS 'The parent: what a person wrote, what a prompt gets. One partition a collection.';
COMMENT ON COLUMN pgbraid.document.id IS
'Derived from tenant and external_id (pgbraid.values.document_id), so the key itself keeps a document from being there twice.';
COMMENT ON COLUMN pgbraid.document.hash IS 'SHA-256 of title, text, headings and metadata: decides whether anything changed.';

CREATE TABLE pgbraid.chunk (
    collection_id bigint NOT NULL,
    tenant text NOT NULL DEFAULT '',
    document_id bigint NOT NULL,
    ordinal integer NOT NULL,
    start_at integer NOT NULL,
    end_at integer NOT NULL,
    length integer NOT NULL,
    text_config text NOT NULL,
    hash bytea NOT NULL,
    headings text [] NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}',
    terms /*ext*/ public.sparsevec NOT NULL,
    context text NOT NULL DEFAULT '',
    text text NOT NULL,
    embedding /*ext*/ public.vector NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (pgbraid.words_v1(text_config, context || E'\n' || text)) STORED,
    CONSTRAINT chunk_pkey PRIMARY KEY (collection_id, tenant, document_id, ordinal),
    CONSTRAINT chunk_document_fkey FOREIGN KEY (collection_id, tenant, document_id)
    REFERENCES pgbraid.document (collection_id, tenant, id) ON DELETE CASCADE,
    CONSTRAINT chunk_span_check CHECK (start_at >= 0 AND end_at > start_at)
) PARTITION BY LIST (collection_id);
-- Scoring reads terms of every candidate: they stay in the row; text, words and vectors move out of it first.
ALTER TABLE pgbraid.chunk ALTER COLUMN terms SET STORAGE MAIN;
COMMENT ON TABLE pgbraid.chunk IS 'The child: what is embedded and matched. One partition a collection.';
COMMENT ON COLUMN pgbraid.chunk.start_at IS 'Characters before the chunk in document.text; text is document.text[start_at:end_at].';
COMMENT ON COLUMN pgbraid.chunk.length IS 'Words in the chunk, repeated ones counted.';
COMMENT ON COLUMN pgbraid.chunk.terms IS 'Document side of BM25: lexeme id to the saturated, length-normalised frequency.';

-- PostgreSQL checks the table that a statement names. Partitions get policies of their own when a collection with tenants is made;
-- these are for whoever may read the whole tables, so that nobody goes round the others.
ALTER TABLE pgbraid.document ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgbraid.chunk ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON pgbraid.document
USING (tenant = coalesce(current_setting('pgbraid.tenant', true), ''))
WITH CHECK (tenant = coalesce(current_setting('pgbraid.tenant', true), ''));
CREATE POLICY tenant ON pgbraid.chunk
USING (tenant = coalesce(current_setting('pgbraid.tenant', true), ''))
WITH CHECK (tenant = coalesce(current_setting('pgbraid.tenant', true), ''));

CREATE TABLE pgbraid.lexeme (
    id bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 1000000000),
    collection_id bigint NOT NULL,
    word text NOT NULL,
    chunks bigint NOT NULL DEFAULT 0,
    CONSTRAINT lexeme_pkey PRIMARY KEY (id),
    CONSTRAINT lexeme_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection (id) ON DELETE CASCADE
);
-- serves: the words of a question. Not unique: two writers who meet a new word at once each give it an id, and
-- neither waits for the other; a question weighs all ids of its words.
CREATE INDEX lexeme_word_btree ON pgbraid.lexeme (collection_id, word) INCLUDE (id, chunks);
COMMENT ON COLUMN pgbraid.lexeme.chunks IS 'Chunks that hold the word, as of the last lexical upkeep; lexeme_change has the rest.';

-- Writers only ever add rows here, so no two of them wait for each other on a common word.
CREATE TABLE pgbraid.lexeme_change (
    collection_id bigint NOT NULL,
    lexeme_id bigint NOT NULL,
    chunks integer NOT NULL,
    CONSTRAINT lexeme_change_collection_fkey FOREIGN KEY (collection_id) REFERENCES pgbraid.collection (id) ON DELETE CASCADE
);
CREATE INDEX lexeme_change_lexeme_btree ON pgbraid.lexeme_change (collection_id, lexeme_id) INCLUDE (chunks);

CREATE TABLE pgbraid.collection_change (
    collection_id bigint NOT NULL,
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    documents bigint NOT NULL,
    chunks bigint NOT NULL,
    length bigint NOT NULL,
    CONSTRAINT collection_change_pkey PRIMARY KEY (collection_id, id),
    CONSTRAINT collection_change_collection_fkey FOREIGN KEY (collection_id)
    REFERENCES pgbraid.collection (id) ON DELETE CASCADE
);
COMMENT ON TABLE pgbraid.collection_change IS
'Sums to the documents, chunks and words of a collection; its newest id is the revision of the collection.';
