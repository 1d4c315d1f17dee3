"""A collection of generated chunks whose words are as frequent as those of natural text, and questions to it.

Words follow a Zipf-Mandelbrot law over 200,000 of them (the commonest stands in about a fifth of all chunks, as in text
without stop words), and chunks have 12 to 60. Rows are written in the shape that an ingest gives them, without vectors
that mean anything. A question is a choice of a chunk's words, so that one chunk holds them all and many hold a few.
"""

from __future__ import annotations

from typing import Any

import psycopg

import pgbraid
from pgbraid import Collection, CollectionSpec, EmbedderRecord

VOCABULARY, SHIFT, SHORTEST, LONGEST, BATCH = 200_000, 20, 12, 60, 50_000

BATCH_SQL = """
WITH planned AS MATERIALIZED (
    SELECT n, floor(%(shortest)s + random() * (%(longest)s - %(shortest)s + 1))::integer AS length
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
),
said AS (
    SELECT n, length, 1 + floor(
        %(shift)s::float8 * exp(random() * ln(1 + %(vocabulary)s::float8 / %(shift)s)) - %(shift)s
    )::bigint AS id, count(*) AS times
    FROM planned CROSS JOIN LATERAL generate_series(1, length)
    GROUP BY 1, 2, 3
),
chunk AS (
    SELECT
        n, length, string_agg(repeat('w' || id || ' ', times::integer), '') AS text,
        '{' || string_agg(id || ':' || (times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / %(average)s)))::real, ',')
        || '}/1000000000' AS terms
    FROM said GROUP BY n, length
)
INSERT INTO pgbraid.CHUNKS (
    collection_id, document_id, ordinal, start_at, end_at, length, text_config, hash, terms, text, embedding
)
SELECT
    %(collection)s, n, 0, 0, length(text), length, 'simple', '', terms::SCHEMA.sparsevec, text, '[1,0]'::SCHEMA.vector
FROM chunk
"""
DOCUMENTS_SQL = """
INSERT INTO pgbraid.DOCUMENTS (collection_id, id, external_id, text, hash, chunk_count)
SELECT %(collection)s, n, 'd' || n, 'text of ' || n, '', 1
FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""
COUNT_SQL = """
INSERT INTO pgbraid.lexeme (collection_id, word, id, chunks)
SELECT %(collection)s, word, substr(word, 2)::bigint, ndoc FROM ts_stat('SELECT words FROM pgbraid.CHUNKS')
"""
TOTAL_SQL = """
INSERT INTO pgbraid.collection_change (collection_id, documents, chunks, length)
SELECT %(collection)s, count(*), count(*), sum(length) FROM pgbraid.CHUNKS
"""


def fill(dsn: str, chunks: int) -> Collection:
    """The collection `generated` in an empty database; what is there already is used again when its size is right."""
    with pgbraid.connect(dsn) as braid:
        known = {c.name: c for c in braid.collections()}
        if "generated" in known and known["generated"].chunks == chunks:
            return known["generated"]
        if "generated" in known:
            braid.drop_collection("generated")
        else:
            braid.add_embedder(EmbedderRecord("generated", "hashing", "words", 2))
        made = braid.create_collection(CollectionSpec("generated", "generated", language="simple"))
        _fill(dsn, made, chunks)
        return braid.collection("generated")


def _fill(dsn: str, made: Collection, chunks: int) -> None:
    average = (SHORTEST + LONGEST) / 2
    names = {"CHUNKS": made.chunk_table, "DOCUMENTS": made.document_table}
    values: dict[str, Any] = {"collection": made.id, "average": average, "vocabulary": VOCABULARY, "shift": SHIFT,
                              "shortest": SHORTEST, "longest": LONGEST}  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(
            "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
        names["SCHEMA"] = row[0] if row else "public"

        def run(text: str, **others: Any) -> None:
            for hole, name in names.items():
                text = text.replace(hole, name)
            connection.execute(text.encode(), {k: v for k, v in {**values, **others}.items() if f"%({k})s" in text})

        connection.execute("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SELECT setseed(0.42)")
        for index in ("words_gin", "embedding_hnsw", "metadata_gin"):
            run(f"DROP INDEX IF EXISTS pgbraid.CHUNKS_{index}")
        for first in range(0, chunks, BATCH):
            last = min(chunks, first + BATCH) - 1
            run(DOCUMENTS_SQL, first=first, last=last)
            run(BATCH_SQL, first=first, last=last)
        run("CREATE INDEX CHUNKS_words_gin ON pgbraid.CHUNKS USING gin (words)")
        run(COUNT_SQL)
        run(TOTAL_SQL)
        run("UPDATE pgbraid.collection SET average_length = %(average)s WHERE id = %(collection)s")
        run("VACUUM ANALYZE pgbraid.CHUNKS")
        run("VACUUM ANALYZE pgbraid.lexeme")


def questions(dsn: str, made: Collection, words: int, count: int) -> list[str]:
    """Questions of so many different words, each taken from one chunk; the same ones for the same collection."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            f"""SELECT string_agg(w.lexeme, ' ' ORDER BY md5(w.lexeme || c.document_id))
                FROM (SELECT document_id, tsvector_to_array(words) AS held FROM pgbraid.{made.chunk_table}
                      WHERE document_id %% %(step)s = 0 AND cardinality(tsvector_to_array(words)) >= %(words)s
                      ORDER BY document_id LIMIT %(count)s) AS c
                CROSS JOIN LATERAL (SELECT lexeme FROM unnest(held) AS lexeme
                                    ORDER BY md5(lexeme || 'q') LIMIT %(words)s) AS w
                GROUP BY c.document_id ORDER BY c.document_id""".encode(),
            {"step": max(1, made.chunks // (count * 8)), "words": words, "count": count},
        ).fetchall()
    return [text for (text,) in rows]
