-- Write the staged chunks that are new or differ, with the document's half of their BM25 score, and count them.
-- Weight of a word: tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average length)); Robertson and Zaragoza, 2009.
-- param collection_id bigint
-- param tenant        text
-- param documents     bigint    how many of the documents are new
-- row   chunks, written
-- hole  ext schema
-- hole  chunk relation

WITH setting AS (
    SELECT
        c.k1,
        c.b,
        greatest(c.average_length, 1) AS average_length
    FROM pgbraid.collection AS c
    WHERE c.id = %(collection_id)s::bigint
),

staged AS MATERIALIZED (
    SELECT
        stage.document_id,
        stage.ordinal,
        stage.start_at,
        stage.end_at,
        stage.text_config,
        stage.hash,
        stage.headings,
        stage.metadata,
        stage.context,
        stage.text,
        stage.embedding,
        long.length,
        coalesce(weighed.terms, '{}/1000000000')::/*ext*/ public.sparsevec AS terms
    FROM pg_temp.pgbraid_chunk_stage AS stage
    INNER JOIN pg_temp.pgbraid_document_stage AS document ON stage.document_id = document.id
    CROSS JOIN setting
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(cardinality(w.positions)), 0)::integer AS length
        FROM unnest(stage.words) AS w
    ) AS long
    CROSS JOIN LATERAL (
        SELECT
            '{' || string_agg(
                known.id || ':' || (
                    cardinality(w.positions) * (setting.k1 + 1)
                    / (
                        cardinality(w.positions) + setting.k1
                        * (1 - setting.b + setting.b * long.length / setting.average_length)
                    )
                )::real, ','
            ) || '}/1000000000' AS terms
        FROM unnest(stage.words) AS w
        INNER JOIN pg_temp.pgbraid_word_stage AS known ON w.lexeme = known.word
    ) AS weighed
    WHERE document.written
),

written AS (
    INSERT INTO /*chunk*/ pgbraid.chunk AS c (
        collection_id, tenant, document_id, ordinal, start_at, end_at, length, text_config,
        hash, headings, metadata, terms, context, text, embedding
    )
    SELECT
        %(collection_id)s::bigint AS collection_id,
        %(tenant)s::text AS tenant,
        staged.document_id,
        staged.ordinal,
        staged.start_at,
        staged.end_at,
        staged.length,
        staged.text_config,
        staged.hash,
        staged.headings,
        staged.metadata,
        staged.terms,
        staged.context,
        staged.text,
        staged.embedding
    FROM staged
    ORDER BY staged.document_id, staged.ordinal
    ON CONFLICT (collection_id, tenant, document_id, ordinal) DO UPDATE
    SET
        start_at = excluded.start_at,
        end_at = excluded.end_at,
        length = excluded.length,
        text_config = excluded.text_config,
        hash = excluded.hash,
        headings = excluded.headings,
        metadata = excluded.metadata,
        terms = excluded.terms,
        context = excluded.context,
        text = excluded.text,
        embedding = excluded.embedding
    WHERE
        (c.hash, c.start_at, c.end_at, c.metadata, c.headings, c.text_config)
        IS DISTINCT FROM
        (excluded.hash, excluded.start_at, excluded.end_at, excluded.metadata, excluded.headings, excluded.text_config)
    RETURNING 1
),

counted AS (
    INSERT INTO pgbraid.collection_change (collection_id, documents, chunks, length)
    SELECT
        %(collection_id)s::bigint AS collection_id,
        %(documents)s::bigint AS documents,
        count(*) AS chunks,
        coalesce(sum(staged.length), 0) AS length
    FROM staged
    RETURNING chunks
)

SELECT
    counted.chunks,
    (SELECT count(*) FROM written) AS written
FROM counted
