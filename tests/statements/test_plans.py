"""On a large table the planner takes the index that a statement was written for, and never reads the whole table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg
import pytest

from pgbraid.compose import compose
from pgbraid.db.statements import Statement, statement
from pgbraid.filters import compile_filter
from pgbraid.lexical import QuestionWord, weigh
from pgbraid.plan import Plan, make_plan
from pgbraid.values import Profile

KNOBS = ("session/ef_search", "session/iterative_scan", "session/no_jit")  # no_seqscan would make this too easy
RARE = "w4321"
Nodes = list[dict[str, Any]]


@pytest.fixture
def connection(large: Any) -> Iterator[psycopg.Connection[Any]]:
    """A read-only transaction with the settings that a search makes."""
    with psycopg.connect(large.dsn) as connection, connection.transaction(force_rollback=True):
        for knob in KNOBS:
            connection.execute(large.fill(statement(knob)).text.encode())
        yield connection


@pytest.fixture(scope="session")
def vector(large: Any) -> str:
    """The vector of some chunk, a little moved."""
    with psycopg.connect(large.dsn) as connection:
        table = large.collection.chunk_table
        row = connection.execute(f"SELECT embedding::text FROM pgbraid.{table} LIMIT 1").fetchone()
    assert row is not None
    found = np.fromstring(row[0][1:-1], sep=",") + 0.01
    return "[" + ",".join(map(str, found)) + "]"


def _params(place: Any, vector: str, **changed: object) -> dict[str, Any]:
    return {
        "collection": place.collection.id,
        "question": f"{RARE} w77",
        "collections": None,
        "tenant": "",
        "vector": vector,
        "base": 1.0,
        "filter": None,
        "threshold": None,
        "candidates": 100,
        "exact_below": 1_000,
        "query": f"'{RARE}'",
        "queries": [f"'{RARE}' | 'w4320'", f"'{RARE}'"],
        "floors": [0.0, 5.0],
        "start": 2,
        "terms": "{4321:5}/1000000000",
        **changed,
    }


def _explain(connection: Any, asked: Statement, params: Mapping[str, Any], analyze: bool = False) -> Nodes:
    """Every node of the plan."""
    options = "ANALYZE, FORMAT JSON" if analyze else "FORMAT JSON"
    used = {name: params[name] for name in asked.params}
    plan = connection.execute(f"EXPLAIN ({options}) {asked.text}", used or None).fetchone()[0][0]["Plan"]
    return list(_nodes(plan))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def _indexes(nodes: Nodes) -> set[str]:
    return {node["Index Name"] for node in nodes if "Index Name" in node}


def _read_whole(nodes: list[dict[str, Any]], table: str) -> bool:
    return any("Seq Scan" in node["Node Type"] and node["Relation Name"] == table for node in nodes)


def test_a_statement_uses_the_indexes_of_its_header(planned: str, large: Any, connection: Any, vector: str) -> None:
    asked = large.fill(statement(planned))
    nodes = _explain(connection, asked, _params(large, vector))
    for ending in asked.plan:
        assert any(index.endswith(ending) for index in _indexes(nodes)), (ending, _indexes(nodes))
    assert not _read_whole(nodes, large.collection.chunk_table)


def test_a_plan_header_names_only_indexes_that_exist(planned: str, large: Any, connection: Any) -> None:
    names = [row[0] for row in connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'pgbraid'")]
    for ending in statement(planned).plan:
        assert any(name.endswith(ending) for name in names)


def test_the_vector_index_is_used_under_a_filter_that_most_rows_pass(large: Any, connection: Any, vector: str) -> None:
    most = compile_filter({"n": {"gte": 100}})
    asked = large.fill(statement("retrieve/dense_index"))
    nodes = _explain(connection, asked, _params(large, vector, filter=most))
    assert any(index.endswith("embedding_hnsw") for index in _indexes(nodes))


def test_a_part_with_an_equal_value_is_found_by_the_metadata_index(large: Any, connection: Any, vector: str) -> None:
    asked = large.fill(statement("retrieve/dense_adaptive"))
    nodes = _explain(connection, asked, _params(large, vector, filter=compile_filter({"kb": "k7"})))
    assert f"{large.collection.chunk_table}_metadata_gin" in _indexes(nodes)
    assert not _read_whole(nodes, large.collection.chunk_table)


def test_a_part_with_one_of_some_values_is_found_by_the_metadata_index(
    large: Any, connection: Any, vector: str
) -> None:
    asked = large.fill(statement("retrieve/dense_adaptive"))
    nodes = _explain(connection, asked, _params(large, vector, filter=compile_filter({"kb": {"in": ["k7", "k8"]}})))
    assert f"{large.collection.chunk_table}_metadata_gin" in _indexes(nodes)


def test_a_tenants_part_is_found_by_its_key(large: Any, connection: Any, vector: str) -> None:
    asked = large.fill(statement("retrieve/dense_adaptive"))
    nodes = _explain(connection, asked, _params(large, vector, tenant="small"))
    assert f"{large.collection.chunk_table}_pkey" in _indexes(nodes)
    assert not _read_whole(nodes, large.collection.chunk_table)


def _plan(large: Any, **options: Any) -> Plan:
    words = weigh([QuestionWord(large.collection.id, RARE, 4321, 1, 20)], [large.collection])
    return make_plan([large.collection], words, Profile(), **options)


def _composed(large: Any, plan: Plan, vector: str) -> tuple[Statement, dict[str, Any]]:
    vectors = {large.collection.embedder.id: np.fromstring(vector[1:-1], sep=",").astype(np.float32)}
    composed = compose(plan, vectors, large.schema)
    asked = composed.statement
    return Statement(asked.name, asked.text, tuple(composed.params)), dict(composed.params)


def test_the_composed_statement_uses_both_indexes_and_reads_documents_by_key(
    large: Any, connection: Any, vector: str
) -> None:
    without_tenants = replace(large, collection=replace(large.collection, tenants=False))
    plan = _plan(without_tenants)
    assert [branch.way for branch in plan.branches] == ["index", "words"]
    nodes = _explain(connection, *_composed(without_tenants, plan, vector))
    used = _indexes(nodes)
    chunks, documents = large.collection.chunk_table, large.collection.document_table
    assert {f"{chunks}_embedding_hnsw", f"{chunks}_words_gin", f"{chunks}_pkey", f"{documents}_pkey"} <= used
    assert not _read_whole(nodes, chunks)
    assert not _read_whole(nodes, documents)


def test_the_composed_statement_under_a_filter_uses_the_metadata_index(
    large: Any, connection: Any, vector: str
) -> None:
    plan = _plan(large, condition=compile_filter({"kb": "k7"}))
    assert [branch.way for branch in plan.branches] == ["adaptive", "words"]
    nodes = _explain(connection, *_composed(large, plan, vector))
    assert f"{large.collection.chunk_table}_metadata_gin" in _indexes(nodes)
    assert not _read_whole(nodes, large.collection.chunk_table)


@pytest.mark.parametrize(
    ("filter_", "tenant", "exact"),
    [({"kb": "k7"}, "", True), (None, "small", True), ({"n": {"gte": 100}}, "", False)],
    ids=["a small part", "a small tenant", "a large part"],
)
def test_only_one_of_the_two_adaptive_ways_runs(
    filter_: Any, tenant: str, exact: bool, large: Any, connection: Any, vector: str
) -> None:
    asked = large.fill(statement("retrieve/dense_adaptive"))
    params = _params(large, vector, filter=compile_filter(filter_), tenant=tenant)
    nodes = _explain(connection, asked, params, analyze=True)
    ways = next(node["Plans"] for node in nodes if node["Node Type"] == "Append")
    ran = [any(node["Actual Loops"] for node in _nodes(way) if "Relation Name" in node) for way in ways]
    assert ran == ([True, False] if exact else [False, True])
    rows = connection.execute(asked.text, {name: params[name] for name in asked.params}).fetchall()
    assert rows and {row[4] for row in rows} == {exact}


KEYED = [
    "retrieve/dense_adaptive",
    "retrieve/chunks",
    "parents/documents",
    "write/known_documents",
    "write/show_document",
]


@pytest.mark.parametrize("asked_name", KEYED)
def test_rows_are_looked_up_by_the_whole_key(asked_name: str, large: Any, connection: Any, vector: str) -> None:
    ids = {"document_ids": [1, 2, 3], "ordinals": [0, 0, 0], "document_id": 1, "with_text": True, "neighbours": True}
    asked = large.fill(statement(asked_name))
    params = _params(large, vector, tenant="small", **ids)
    nodes = _explain(connection, asked, params)
    keyed = [node.get("Index Cond", "") for node in nodes if node.get("Index Name", "").endswith("_pkey")]
    assert keyed and all("collection_id" in condition for condition in keyed)


@pytest.mark.parametrize("asked_name", ["retrieve/lexical", "retrieve/dense_adaptive"])
def test_a_role_that_owns_nothing_uses_the_indexes_of_a_collection_without_tenants(
    asked_name: str, shared: Any, connection: Any, vector: str
) -> None:
    connection.execute("CREATE ROLE pgbraid_test_reader")
    connection.execute("GRANT USAGE ON SCHEMA pgbraid TO pgbraid_test_reader")
    connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO pgbraid_test_reader")
    connection.execute("SET LOCAL ROLE pgbraid_test_reader")
    asked = shared.fill(statement(asked_name))
    filter_ = compile_filter({"kb": "k7"}) if asked_name == "retrieve/dense_adaptive" else None
    nodes = _explain(connection, asked, _params(shared, vector, filter=filter_))
    assert any("_gin" in index for index in _indexes(nodes))
    assert not _read_whole(nodes, shared.collection.chunk_table)
