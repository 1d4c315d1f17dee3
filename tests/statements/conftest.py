"""Statements under test: every file by name, filled for a real collection, and a collection large enough for plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

import pgbraid
from pgbraid import Collection, CollectionSpec, EmbedderRecord, VectorIndex
from pgbraid.db.statements import Statement, statement

FOLDER = Path(__file__).parents[2] / "sql"
NAMES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.sql"))
DIMENSIONS = 32
CHUNKS = 50_000
FEWER = 20_000
VOCABULARY = 5_000
CLUSTERS = 397  # a prime: clusters shall not go with tenants or metadata


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `name` runs for every statement, one that takes `planned` for those that promise an index."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", NAMES)
    if "planned" in metafunc.fixturenames:
        metafunc.parametrize("planned", [name for name in NAMES if statement(name).plan])


@dataclass(frozen=True, slots=True)
class Place:
    """A database with one collection in it; `schema` is where pgvector lives."""

    dsn: str
    collection: Collection
    schema: str

    def fill(self, asked: Statement, **others: str | int) -> Statement:
        """The statement for this collection."""
        values: dict[str, str | int] = {
            "chunk": self.collection.chunk_table,
            "document": self.collection.document_table,
            "table": self.collection.chunk_table,
            "index": f"{self.collection.chunk_table}_words_gin",
            "collection": self.collection.id,
            "ext": self.schema,
            "nearest": "<=>",
            "storage": "halfvec",
            "opclass": "halfvec_cosine_ops",
            "dim": DIMENSIONS,
            "m": 16,
            "ef": 64,
            "breadth": 100,
            **others,
        }
        return asked.fill(**{hole: values[hole] for hole, _ in asked.holes})


def _made(dsn: str, **settings: Any) -> Place:
    with pgbraid.connect(dsn) as braid:
        braid.add_embedder(EmbedderRecord("words", "hashing", "words", DIMENSIONS))
        collection = braid.create_collection(CollectionSpec("notes", "words", language="simple", **settings))
    with psycopg.connect(dsn) as connection:
        row = connection.execute(statement("catalog/facts").text.encode()).fetchone()
    assert row is not None
    return Place(dsn, collection, row[2])


@pytest.fixture(scope="session")
def place(made: Callable[..., Any], template: str) -> Iterator[Place]:
    """A database with one empty collection, for tests that commit nothing."""
    with made(template) as dsn:
        yield _made(dsn)


@pytest.fixture(scope="session")
def large(made: Callable[..., Any], template: str) -> Iterator[Place]:
    """A collection of 50,000 chunks, two a document: words as frequent as real ones, vectors in clusters.

    It keeps tenants apart: every hundredth document is the tenant `small`'s. `metadata.kb` has 500 values.
    """
    with made(template) as dsn:
        place = _made(dsn, index=VectorIndex(exact_below=1_000), tenants=True)
        _seed(place, CHUNKS, "small")
        index = statement("catalog/create_vector_index")
        with psycopg.connect(dsn) as connection:
            connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
            name = f"{place.collection.chunk_table}_embedding_hnsw"
            connection.execute(place.fill(index, index=name).text.encode())
        yield _counted(place)


@pytest.fixture(scope="session")
def shared(large: Place) -> Place:
    """A collection of 20,000 such chunks in the same database that has no tenants, and no vector index."""
    with pgbraid.connect(large.dsn) as braid:
        collection = braid.create_collection(CollectionSpec("shared", "words", language="simple"))
    place = Place(large.dsn, collection, large.schema)
    _seed(place, FEWER, "")
    return _counted(place)


def _counted(place: Place) -> Place:
    """The place after VACUUM ANALYZE, with its collection as the catalogue knows it now."""
    with psycopg.connect(place.dsn, autocommit=True) as connection:
        connection.execute(f"VACUUM ANALYZE pgbraid.{place.collection.chunk_table}, pgbraid.lexeme")
        connection.execute(f"VACUUM ANALYZE pgbraid.{place.collection.document_table}, pgbraid.collection_change")
    with pgbraid.connect(place.dsn) as braid:
        return replace(place, collection=braid.collection(place.collection.name))


def _seed(place: Place, chunks: int, hundredth: str) -> None:
    """Rows without a vector index; every hundredth document is the tenant `hundredth`'s."""
    sizes = {"chunks": chunks, "vocabulary": VOCABULARY, "clusters": CLUSTERS, "dimensions": DIMENSIONS}
    first = 10_000 * (place.collection.id - 1)  # words of two collections have different ids
    values = {"collection": place.collection.id, "hundredth": hundredth, "first": first, **sizes}
    with psycopg.connect(place.dsn) as connection:
        for text in _SEED.split(";\n"):
            text = text.replace("DOCUMENTS", f"pgbraid.{place.collection.document_table}")
            text = text.replace("CHUNKS", f"pgbraid.{place.collection.chunk_table}")
            connection.execute(text.replace("EXT.", f"{place.schema}.").encode(), values)


_SEED = """
SELECT setseed(0.42), set_config('pgbraid.upkeep', 'on', true);
DROP INDEX CHUNKS_embedding_hnsw;
CREATE TEMPORARY TABLE said ON COMMIT DROP AS
SELECT n, least(%(vocabulary)s, floor(exp(random() * ln(%(vocabulary)s + 1))))::integer AS id, count(*) AS times
FROM generate_series(0, %(chunks)s - 1) AS n CROSS JOIN generate_series(1, 16)
GROUP BY 1, 2;
CREATE TEMPORARY TABLE centre ON COMMIT DROP AS
SELECT k, i, random() - 0.5 AS x
FROM generate_series(1, %(clusters)s) AS k CROSS JOIN generate_series(1, %(dimensions)s) AS i;
CREATE TEMPORARY TABLE near ON COMMIT DROP AS
SELECT n, array_agg(centre.x + 0.4 * (random() - 0.5) ORDER BY centre.i) AS vector
FROM generate_series(0, %(chunks)s - 1) AS n
INNER JOIN centre ON centre.k = 1 + n %% %(clusters)s
GROUP BY n;
INSERT INTO DOCUMENTS (collection_id, tenant, id, external_id, text, metadata, hash, chunk_count)
SELECT %(collection)s, CASE WHEN n %% 100 = 0 THEN %(hundredth)s ELSE '' END, n, 'd' || n, 'text of ' || n, '{}', '', 2
FROM generate_series(0, %(chunks)s / 2 - 1) AS n;
INSERT INTO CHUNKS (
    collection_id, tenant, document_id, ordinal, start_at, end_at, length, text_config, hash,
    metadata, terms, text, embedding
)
SELECT
    %(collection)s, CASE WHEN n / 2 %% 100 = 0 THEN %(hundredth)s ELSE '' END, n / 2, n %% 2, 0, 1, 16, 'simple', '',
    jsonb_build_object('n', n, 'kb', 'k' || n / 2 %% 500), said.terms::EXT.sparsevec, said.text, near.vector::EXT.vector
FROM (
    SELECT
        n,
        string_agg(repeat('w' || id || ' ', times::integer), '' ORDER BY id) AS text,
        '{' || string_agg(%(first)s + id || ':' || (times * 2.2 / (times + 1.2))::real, ',') || '}/1000000000' AS terms
    FROM said
    GROUP BY n
) AS said
INNER JOIN near USING (n);
INSERT INTO pgbraid.lexeme (collection_id, id, word, chunks)
SELECT %(collection)s, %(first)s + id, 'w' || id, count(*) FROM said GROUP BY id;
INSERT INTO pgbraid.collection_change (collection_id, documents, chunks, length)
VALUES (%(collection)s, %(chunks)s / 2, %(chunks)s, %(chunks)s * 16);
UPDATE pgbraid.collection SET average_length = 16 WHERE id = %(collection)s
"""
