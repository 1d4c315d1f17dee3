"""Composing: the statement of a plan is made of the files, binds each parameter once, and holds no value."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pgbraid.compose import Composed, branch_statements, compose, compose_lift
from pgbraid.db.statements import Statement, parameters, statement
from pgbraid.filters import compile_filter
from pgbraid.lexical import LexicalQuery
from pgbraid.plan import EVIDENCE_FLOOR, Plan, make_plan, with_options
from pgbraid.values import Chunking, Collection, EmbedderRecord, Metric, Profile, VectorIndex

pglast = pytest.importorskip("pglast")
HOSTILE = 'it\'s "x" \\ %s %(tenant)s $1 :name 合同 😀 */ -- ;'
QUERY = LexicalQuery("'a' | 'it''s'", "{1:1.5,2:0.25}/1000000000", {"a": 1.5, "it's": 0.25})
METRICS: tuple[Metric, ...] = ("cosine", "ip", "l2")
RECORDS = [EmbedderRecord(f"e{i}", "hashing", "m", 4, metric, id=i) for i, metric in enumerate(METRICS, 1)]
VECTORS: dict[int, Any] = {record.id: np.array([0.1, -2.5, 1e-8, 3], dtype=np.float32) for record in RECORDS}


def collection(number: int, chunks: int = 50_000, **changed: Any) -> Collection:
    made = Collection(
        number, f"c{number}", "", "simple", "simple", RECORDS[0], Chunking(), VectorIndex(), 1.2, 0.75,
        f"document_{number}", f"chunk_{number}", documents=chunks, chunks=chunks,
    )  # fmt: skip
    return replace(made, **changed)


def plan(*collections: Collection, **more: Any) -> Plan:
    profile = with_options(Profile(), more.pop("options", {}))
    return make_plan(collections, {c.id: QUERY for c in collections}, profile, **more)


def tree(text: str) -> Any:
    numbered = {name: f"${i}" for i, name in enumerate(parameters(text), 1)}
    parsed = pglast.parse_sql(re.sub(r"%\((\w+)\)s", lambda m: numbered[m[1]], text))
    assert len(parsed) == 1
    return parsed[0].stmt


CHOICES = list(
    itertools.product(
        ["zscore", "minmax", "rrf"],
        [(10, 50_000), (50_000,), (10, 50_000, 60_000, 70_000)],
        [None, compile_filter({HOSTILE: HOSTILE})],
        ["", HOSTILE],
    )
)


@pytest.mark.parametrize(("fusion", "sizes", "filter_", "tenant"), CHOICES)
def test_a_composed_statement_is_one_query_and_has_exactly_its_parameters(
    fusion: str, sizes: tuple[int, ...], filter_: str | None, tenant: str
) -> None:
    collections = [collection(i, size, embedder=RECORDS[i % 3]) for i, size in enumerate(sizes, 1)]
    made = compose(plan(*collections, options={"fusion": fusion}, condition=filter_, tenant=tenant), VECTORS, "public")
    assert type(tree(made.statement.text)).__name__ == "SelectStmt"
    assert set(parameters(made.statement.text)) == set(made.params)
    assert "%" not in re.sub(r"%\(\w+\)s", "", made.statement.text)


@pytest.mark.parametrize("fusion", ["zscore", "minmax", "rrf"])
def test_the_columns_are_those_of_the_passages(fusion: str) -> None:
    made = compose(plan(collection(1), options={"fusion": fusion}), VECTORS, "public")
    columns = [target.name or target.val.fields[-1].sval for target in tree(made.statement.text).targetList]
    assert tuple(columns) == statement("retrieve/passages").row


def test_no_value_stands_in_the_text() -> None:
    one, other = (
        compose(plan(collection(1), condition=condition, tenant=tenant, options={"top_k": k}), vectors, "public")
        for condition, tenant, k, vectors in (
            (compile_filter({"a": 1}), "x", 3, VECTORS),
            (compile_filter({HOSTILE: HOSTILE}), HOSTILE, 9, {1: np.ones(4, dtype=np.float32)}),
        )
    )
    assert one.statement.text == other.statement.text
    assert one.params.keys() == other.params.keys()


def test_branches_are_numbered_and_what_they_share_is_bound_once() -> None:
    made = compose(plan(collection(1), collection(2)), VECTORS, "public")
    names = set(made.params)
    assert {"threshold_1", "threshold_4", "query_2", "query_4", "terms_2", "base_1", "base_3", "vector_1"} <= names
    assert "vector_3" not in names
    assert made.params["branch_collection"] == [1, 1, 2, 2]
    assert [re.search(rf"\b(\w+)_{i} AS MATERIALIZED", made.statement.text)[1] for i in (1, 2, 3, 4)] == [  # type: ignore[index]
        "dense",
        "lexical",
        "dense",
        "lexical",
    ]


def test_each_embedder_gets_its_own_vector_operator_and_base() -> None:
    collections = [collection(i, embedder=record) for i, record in enumerate(RECORDS, 1)]
    made = compose(plan(*collections), VECTORS, "ext")
    assert [made.params[f"base_{i}"] for i in (1, 3, 5)] == [1.0, 0.0, 0.0]
    assert {f"vector_{i}" for i in (1, 2, 3)} <= set(made.params)
    for operator in ("<=>", "<#>", "<->"):
        assert f"OPERATOR(ext.{operator})" in made.statement.text
    assert "public." not in made.statement.text


def test_a_vector_is_written_so_that_every_float_comes_back() -> None:
    vector = np.array([0.1, -2.5, 1e-8, 3, 1 / 3, 16_777_217, 1.1754944e-38, -3.4028235e38], dtype=np.float32)
    text = compose(plan(collection(1)), VECTORS | {1: vector}, "public").params["vector_1"]
    assert np.array_equal(np.array(text[1:-1].split(","), dtype=np.float32), vector)


def test_statements_name_the_tables_of_their_collections_and_no_others() -> None:
    made = compose(plan(collection(1), collection(22, 5)), VECTORS, "public")
    tables = set(re.findall(r"pgbraid\.(\w+)", made.statement.text))
    assert tables == {"chunk_1", "chunk_22", "document_1", "document_22"}


def test_a_branch_alone_is_the_text_that_stands_in_the_whole() -> None:
    search = plan(collection(1), collection(2, 10), condition=compile_filter({"a": 1}))
    whole = " ".join(compose(search, VECTORS, "public").statement.text.split())
    alone = branch_statements(search, VECTORS, "public")
    assert [one.statement.name for one in alone] == [
        "retrieve/adaptive",
        "retrieve/words",
        "retrieve/exact",
        "retrieve/words",
    ]
    for one in alone:
        body = one.statement.text.partition("\n")[2]
        assert " ".join(body.split()) in whole
        assert set(parameters(one.statement.text)) == set(one.params)


def test_the_same_plan_gives_the_same_text() -> None:
    search = plan(collection(1), collection(2))
    assert compose(search, VECTORS, "public") == compose(search, VECTORS, "public")


def test_the_weight_of_evidence_and_its_branches_are_bound() -> None:
    made = compose(plan(collection(1), collection(2), options={"evidence_weight": 2.5}), VECTORS, "public")
    bound = [made.params[f"evidence_{name}"] for name in ("branch", "weight", "floor")]
    assert bound == [[2, 4], 2.5, EVIDENCE_FLOOR]


def test_lifting_reads_each_collections_own_table_and_binds_the_order() -> None:
    made = compose_lift([collection(1), collection(2)], [(2, 20), (1, 10), (2, 20)], HOSTILE)
    tree(made.statement.text)
    assert (made.params["collections"], made.params["document_ids"]) == ([2, 1, 2], [20, 10, 20])
    assert set(parameters(made.statement.text)) == set(made.params)
    assert set(re.findall(r"pgbraid\.(\w+)", made.statement.text)) == {"document_1", "document_2"}


def test_pasted_text_has_every_value_as_a_literal() -> None:
    values = {"a": HOSTILE, "b": [1, 2], "c": None, "d": 0.5, "e": True}
    asked = Statement("x", "SELECT " + ", ".join(f"%({name})s AS {name}" for name in values))
    targets = pglast.parse_sql(Composed(asked, values).pasted())[0].stmt.targetList
    assert [target.name for target in targets] == list(values)
    assert targets[0].val.val.sval == HOSTILE
    assert targets[2].val.isnull


def test_a_whole_statement_with_hostile_values_can_be_pasted() -> None:
    search = plan(collection(1), condition=compile_filter({HOSTILE: HOSTILE}), tenant=HOSTILE)
    pasted = compose(search, VECTORS, "public").pasted()
    assert len(pglast.parse_sql(pasted)) == 1
