"""The three dense statements agree: adaptive and exact on small parts, index and exact nearly always."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgbraid.db.statements import statement
from pgbraid.filters import compile_filter

QUESTIONS = 40
FLOOR = 0.95


@pytest.fixture
def connection(large: Any) -> Iterator[psycopg.Connection[Any]]:
    """A transaction with the settings that a search makes, `ef_search` as a collection has it by default."""
    with psycopg.connect(large.dsn) as connection, connection.transaction(force_rollback=True):
        breadth = large.collection.index.ef_search
        connection.execute(large.fill(statement("session/ef_search"), breadth=breadth).text.encode())
        connection.execute(statement("session/iterative_scan").text.encode())
        yield connection


Rows = list[tuple[Any, ...]]


def _rows(connection: Any, large: Any, way: str, vector: str, filter_: Any = None, **changed: Any) -> Rows:
    asked = large.fill(statement(f"retrieve/dense_{way}"))
    params = {
        "collection": large.collection.id,
        "tenant": "",
        "vector": vector,
        "base": 1.0,
        "filter": compile_filter(filter_),
        "threshold": None,
        "candidates": 100,
        "exact_below": 1_000,
        **changed,
    }
    used = {name: params[name] for name in asked.params}
    rows: Rows = connection.execute(asked.text, used).fetchall()
    return sorted(rows, key=lambda row: row[2])


def _questions(connection: Any, large: Any, many: int) -> list[str]:
    """Vectors between two chunks of a cluster, as a question lies among the texts that answer it."""
    schema, table = large.schema, large.collection.chunk_table
    return [
        row[0]
        for row in connection.execute(
            f"SELECT (a.embedding OPERATOR({schema}.+) b.embedding)::text "
            f"FROM pgbraid.{table} AS a INNER JOIN pgbraid.{table} AS b "
            "ON b.document_id = a.document_id + 397 * (1 + a.document_id %% 20) AND b.ordinal = a.ordinal "
            "WHERE a.ordinal = 0 ORDER BY a.document_id * 7919 %% 25000 LIMIT %s",
            [many],
        )
    ]


@pytest.mark.parametrize(
    ("filter_", "tenant"),
    [
        ({"kb": "k7"}, ""),
        ({"kb": {"in": ["k1", "k2", "k3"]}, "n": {"lt": 20_000}}, ""),
        (None, "small"),
        ({"n": {"gte": 25_000}}, "small"),
        ({"kb": "no such"}, ""),
        (None, "nobody"),
    ],
)
def test_on_a_small_part_adaptive_gives_what_exact_gives(
    filter_: Any, tenant: str, large: Any, connection: Any
) -> None:
    for vector in _questions(connection, large, 3):
        exact = _rows(connection, large, "exact", vector, filter_, tenant=tenant)
        adaptive = _rows(connection, large, "adaptive", vector, filter_, tenant=tenant)
        assert adaptive == exact
        assert [row[2] for row in exact] == list(range(1, len(exact) + 1))


def test_on_a_large_part_adaptive_gives_what_the_index_gives(large: Any, connection: Any) -> None:
    most = {"n": {"gte": 1_000}}
    for vector in _questions(connection, large, 3):
        assert _rows(connection, large, "adaptive", vector, most) == _rows(connection, large, "index", vector, most)


def test_a_part_exactly_at_the_limit_is_compared_and_one_above_is_not(large: Any, connection: Any) -> None:
    vector = _questions(connection, large, 1)[0]
    held = len(_rows(connection, large, "exact", vector, {"kb": "k7"}, candidates=10_000))
    at = _rows(connection, large, "adaptive", vector, {"kb": "k7"}, exact_below=held)
    above = _rows(connection, large, "adaptive", vector, {"kb": "k7"}, exact_below=held - 1)
    assert {row[4] for row in at} == {True}
    assert {row[4] for row in above} == {False}


def test_under_a_filter_that_few_rows_pass_the_index_still_fills_the_list(large: Any, connection: Any) -> None:
    vector = _questions(connection, large, 1)[0]
    assert len(_rows(connection, large, "index", vector, {"n": {"lt": 5_000}})) == 100


@pytest.mark.parametrize("way", ["exact", "index", "adaptive"])
def test_a_threshold_cuts_and_keeps_the_ranks(way: str, large: Any, connection: Any) -> None:
    vector = _questions(connection, large, 1)[0]
    every = _rows(connection, large, way, vector)
    threshold = every[9][3]
    kept = _rows(connection, large, way, vector, threshold=threshold)
    assert kept == [row for row in every if row[3] >= threshold]
    assert 10 <= len(kept) < len(every)


def test_the_index_finds_nearly_all_that_comparing_every_chunk_finds(large: Any, connection: Any) -> None:
    found = wanted = 0
    for vector in _questions(connection, large, QUESTIONS):
        exact = {row[:2] for row in _rows(connection, large, "exact", vector)[:10]}
        index = {row[:2] for row in _rows(connection, large, "index", vector)}
        found += len(exact & index)
        wanted += len(exact)
    assert wanted == QUESTIONS * 10
    assert found / wanted >= FLOOR


def test_whole_lists_of_a_hundred_agree_too(large: Any, connection: Any) -> None:
    shares = []
    for vector in _questions(connection, large, QUESTIONS):
        exact = {row[:2] for row in _rows(connection, large, "exact", vector)}
        index = {row[:2] for row in _rows(connection, large, "index", vector)}
        shares.append(len(exact & index) / len(exact))
    assert sum(shares) / len(shares) >= FLOOR, shares
