"""Braids on databases of their own, and one with a small library in it that tests only read.

`braid` is empty but for the embedder `h`, which hashes words: a text is near another that shares words with it. What a
test must own alone it gets as a copy of a template, which takes a fraction of a second.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

import pgbraid
from pgbraid import Braid, Chunking, Collection, CollectionSpec, Document, EmbedderRecord, SearchResult, VectorIndex
from pgbraid.embed import from_callable

DIMENSIONS = 64
SMALL = Chunking(tokens=24, overlap=0)
HANDBOOK = {
    "leave": "Annual leave is 25 days. Up to five days of leave may be carried over into the next year.",
    "sick": "Whoever is sick tells the manager on the first day and sends a certificate on the third.",
    "travel": "Travel by train in second class. Flights need the approval of the manager.",
    "overtime": "Overtime is paid at one and a half times the usual rate, and needs approval before it is worked.",
}
RUNBOOK = {
    "deploy": "A deployment to production needs approval of two engineers and a plan for rolling back.",
    "backup": "The database is backed up every night. A restore is rehearsed once a month.",
    "oncall": "The engineer on call answers within ten minutes and writes down what happened.",
}
CONTRACTS = {
    "approval": "合同审批要走什么流程？业务部门发起，法务审查，财务审核，最后用印归档。",
    "archive": "合同签署后五个工作日内归档，原件由法务保管，保存期限不少于十年。",
    "nda": "A mutual non-disclosure agreement ends two years after the last exchange of information.",
}


def documents(texts: dict[str, str], **others: Any) -> list[Document]:
    """Documents from external id and text."""
    return [Document(name, text, **others) for name, text in texts.items()]


def made_of(braid: Braid, name: str = "notes", embedder: str = "h", **settings: Any) -> Collection:
    """A new collection with small chunks."""
    settings.setdefault("chunking", SMALL)
    return braid.create_collection(CollectionSpec(name, embedder, **settings))


def with_function(braid: Braid, name: str, function: Callable[[Sequence[str]], Any], dimensions: int = 4) -> None:
    """An embedder of the catalogue that is a function of the test's."""
    braid.register_embedder(name, from_callable(function, dimensions, name))
    braid.add_embedder(EmbedderRecord(name, "callable", name, dimensions))


def constant(texts: Sequence[str]) -> Any:
    """The same vector for every text."""
    return np.tile(np.array([1.0, 0, 0, 0], dtype=np.float32), (len(texts), 1))


def found(result: SearchResult) -> list[tuple[str, str]]:
    """(collection, external id) of each passage, best first."""
    return [(p.collection, p.external_id) for p in result.passages]


def ids(result: SearchResult) -> list[str]:
    """The external id of each passage, best first."""
    return [p.external_id for p in result.passages]


def rows(dsn: str, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """The rows of a query of the test's own."""
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT set_config('pgbraid.upkeep', 'on', true)")
        return connection.execute(query.encode(), values or None).fetchall()


def sentences(seed: int, count: int, words: int = 12, vocabulary: int = 60) -> list[str]:
    """Texts of made-up words, the first of them far more frequent than the last."""
    chance = random.Random(seed)
    known = [f"w{i}" for i in range(vocabulary)]
    weights = [1 / (i + 1) for i in range(vocabulary)]
    return [" ".join(chance.choices(known, weights, k=chance.randint(1, words))) for _ in range(count)]


def recounted(dsn: str, collection: Collection) -> tuple[dict[str, int], tuple[int, int, int]]:
    """Chunks by word, and documents, chunks and length, counted from the stored rows themselves."""
    words = rows(
        dsn,
        f"SELECT w.lexeme, count(*) FROM pgbraid.{collection.chunk_table} AS c, unnest(c.words) AS w GROUP BY 1",
    )
    totals = rows(
        dsn,
        f"""SELECT (SELECT count(*) FROM pgbraid.{collection.document_table}), count(*), coalesce(sum(
            (SELECT coalesce(sum(cardinality(w.positions)), 0) FROM unnest(c.words) AS w)), 0)
            FROM pgbraid.{collection.chunk_table} AS c""",
    )
    return dict(words), tuple(map(int, totals[0]))  # type: ignore[return-value]


def counted(dsn: str, collection: Collection) -> tuple[dict[str, int], tuple[int, int, int]]:
    """The same as `recounted`, but what pgbraid keeps."""
    words = rows(
        dsn,
        """SELECT word, sum(chunks)::bigint FROM (
            SELECT l.word, l.chunks FROM pgbraid.lexeme AS l WHERE l.collection_id = %s
            UNION ALL
            SELECT l.word, c.chunks FROM pgbraid.lexeme_change AS c JOIN pgbraid.lexeme AS l ON l.id = c.lexeme_id
            WHERE c.collection_id = %s) AS every GROUP BY word HAVING sum(chunks) <> 0""",
        collection.id,
        collection.id,
    )
    totals = rows(
        dsn,
        """SELECT coalesce(sum(documents), 0), coalesce(sum(chunks), 0), coalesce(sum(length), 0)
            FROM pgbraid.collection_change WHERE collection_id = %s""",
        collection.id,
    )
    return dict(words), tuple(map(int, totals[0]))  # type: ignore[return-value]


def whole(dsn: str, collection: Collection) -> None:
    """Every document has the chunks that it says, numbered from 0, each a piece of its text."""
    wrong = rows(
        dsn,
        f"""SELECT d.external_id, d.chunk_count, array_agg(c.ordinal ORDER BY c.ordinal), bool_and(
                substr(d.text, c.start_at + 1, c.end_at - c.start_at) = c.text)
            FROM pgbraid.{collection.document_table} AS d
            LEFT JOIN pgbraid.{collection.chunk_table} AS c
                ON c.collection_id = d.collection_id AND c.tenant = d.tenant AND c.document_id = d.id
            GROUP BY d.tenant, d.id, d.external_id, d.chunk_count
            HAVING array_agg(c.ordinal ORDER BY c.ordinal) IS DISTINCT FROM
                (SELECT array_agg(n) FROM generate_series(0, d.chunk_count - 1) AS n)
                OR NOT bool_and(substr(d.text, c.start_at + 1, c.end_at - c.start_at) = c.text)""",
    )
    assert wrong == []


@pytest.fixture(scope="session")
def stocked(made: Callable[..., Any], template: str) -> Iterator[str]:
    """The name of a migrated database with the embedder `h`; nobody may be connected to it."""
    with made(template) as dsn:
        with pgbraid.connect(dsn) as braid:
            braid.add_embedder(EmbedderRecord("h", "hashing", "hashing", DIMENSIONS))
        yield str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])


@pytest.fixture
def own(made: Callable[..., Any], stocked: str) -> Iterator[str]:
    """The DSN of a database with the embedder `h`, for this test alone."""
    with made(stocked) as dsn:
        yield dsn


@pytest.fixture
def braid(own: str) -> Iterator[Braid]:
    """A braid on `own`."""
    with pgbraid.connect(own) as opened:
        yield opened


@pytest.fixture
def another(made: Callable[..., Any], stocked: str) -> Iterator[Callable[[], Braid]]:
    """`another()`: a braid on one more database of this test's."""
    with contextlib.ExitStack() as opened:
        yield lambda: opened.enter_context(pgbraid.connect(opened.enter_context(made(stocked))))


@pytest.fixture(scope="session")
def library_dsn(made: Callable[..., Any], stocked: str) -> Iterator[str]:
    """The DSN of a database with the collections hr, legal and tech, routes to them and the alias 法务; read only."""
    with made(stocked) as dsn, pgbraid.connect(dsn) as braid:
        for name, texts in (("hr", HANDBOOK), ("tech", RUNBOOK), ("legal", CONTRACTS)):
            made_of(braid, name)
            braid.ingest(name, documents(texts, title=name))
        braid.apply(
            {
                "routes": {
                    "contracts": {"collections": ["legal"], "match": {"any": ["合同", "NDA"]}},
                    "people": {"collections": ["hr"], "match": {"any": ["leave"]}},
                },
                "default": "all",
                "aliases": {"法务": "legal"},
            }
        )
        yield dsn


@pytest.fixture(scope="module")
def library(library_dsn: str) -> Iterator[Braid]:
    """A braid on the library, shared by the tests of a module, which only read."""
    with pgbraid.connect(library_dsn) as opened:
        yield opened


@pytest.fixture(scope="session")
def large_dsn(made: Callable[..., Any], stocked: str) -> Iterator[str]:
    """The DSN of a database with the collection `large`: 600 chunks, of which the index serves all but small parts."""
    with made(stocked) as dsn, pgbraid.connect(dsn) as braid:
        made_of(braid, "large", index=VectorIndex(exact_below=50), tenants=True)
        texts = sentences(7, 600)
        loaded = [Document(f"d{i}", text, metadata={"n": i, "rare": i % 30 == 0}) for i, text in enumerate(texts)]
        braid.ingest("large", loaded)
        braid.ingest("large", [Document(f"t{i}", text) for i, text in enumerate(texts[:20])], tenant="small")
        yield dsn


@pytest.fixture(scope="module")
def large(large_dsn: str) -> Iterator[Braid]:
    """A braid on the large collection, shared by the tests of a module, which only read."""
    with pgbraid.connect(large_dsn) as opened:
        yield opened
