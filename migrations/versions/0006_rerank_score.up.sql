-- Rerank scores that several processes share.

CREATE TABLE pgbraid.rerank_score (
    key bytea NOT NULL,
    scores double precision [] NOT NULL,
    size integer NOT NULL DEFAULT 0,
    kept_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT rerank_score_pkey PRIMARY KEY (key)
);
-- serves forgetting the oldest
CREATE INDEX rerank_score_kept_at_btree ON pgbraid.rerank_score (kept_at);
COMMENT ON TABLE pgbraid.rerank_score IS
'Rerank scores of pairs of question and text, where the setting rerank_cache_table asks for it. May be emptied.';
COMMENT ON COLUMN pgbraid.rerank_score.key IS
'A digest of the reranker''s identity, how long texts are treated, the question and the text; neither can be read from it.';
COMMENT ON COLUMN pgbraid.rerank_score.scores IS 'A score for each window of the text.';
COMMENT ON COLUMN pgbraid.rerank_score.size IS 'How long the text was, where it was too long; else 0.';
