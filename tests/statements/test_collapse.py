"""Collapsing: sums, evidence, best chunk and order, against numbers that were computed by hand."""

from __future__ import annotations

import math
from typing import Any

import psycopg
import pytest

from pgbraid.db.statements import statement

COLLAPSE = statement("retrieve/collapse")
# branch, collection, document, ordinal, rank, score, exact, contribution
Part = tuple[int, int, int, int, int, float, bool, float]
COLUMNS = ("branch", "collection", "document", "ordinal", "rank", "score", "exact", "contribution")
TWO: list[Part] = [
    (1, 7, 70, 0, 1, 0.9, True, 2.0),
    (2, 7, 70, 0, 2, 8.0, True, 1.0),
    (2, 7, 70, 1, 1, 10.0, True, 1.5),
    (4, 9, 90, 0, 1, 5.0, True, 2.5),
    (4, 9, 91, 0, 2, 1.0, True, 0.5),
]


def _collapsed(connection: psycopg.Connection[Any], parts: list[Part], **options: Any) -> list[dict[str, Any]]:
    params: dict[str, Any] = {
        f"part_{name}": list(column) for name, column in zip(COLUMNS, zip(*parts, strict=True), strict=True)
    }
    params |= {"evidence_branch": [2, 4], "evidence_weight": 4.0, "evidence_floor": 0.4, "documents": 10, **options}
    cursor = connection.cursor(row_factory=psycopg.rows.dict_row)
    return cursor.execute(COLLAPSE.text.encode(), params).fetchall()


def test_a_chunk_has_the_sum_of_its_branches_and_a_document_the_score_of_its_best_chunk(conn: Any) -> None:
    rows = _collapsed(conn, TWO, evidence_branch=[])
    scores = [(r["place"], r["document_id"], r["ordinal"], r["fused_score"]) for r in rows]
    assert scores == [(1, 70, 0, 3.0), (1, 70, 1, 1.5), (2, 90, 0, 2.5), (3, 91, 0, 0.5)]
    assert [r["prior"] for r in rows] == [0, 0, 0, 0]
    assert rows[0]["parts"] == [[1, 1, 0.9, 2.0], [2, 2, 8.0, 1.0]]
    assert rows[0]["branches"] == [[1, 1, True], [2, 2, True], [4, 2, True]]


def test_evidence_is_the_logarithm_of_the_share_of_the_best_collections_score(conn: Any) -> None:
    rows = _collapsed(conn, TWO)
    assert {r["prior"] for r in rows if r["collection_id"] == 7} == {0}
    other = [r for r in rows if r["collection_id"] == 9]
    assert [r["prior"] for r in other] == pytest.approx([4 * math.log(0.5)] * 2)
    assert other[0]["fused_score"] == pytest.approx(2.5 + 4 * math.log(0.5))


def test_a_share_below_the_floor_counts_as_the_floor(conn: Any) -> None:
    rows = _collapsed(conn, TWO, evidence_floor=0.8, evidence_weight=1.0)
    assert [r["prior"] for r in rows if r["collection_id"] == 9] == pytest.approx([math.log(0.8)] * 2)


def test_a_collection_that_holds_none_of_the_words_gets_the_floor(conn: Any) -> None:
    rows = _collapsed(conn, [*TWO, (5, 11, 110, 0, 1, 0.7, False, 1.0)])
    (silent,) = [r for r in rows if r["collection_id"] == 11]
    assert silent["prior"] == pytest.approx(4 * math.log(0.4))


def test_where_no_branch_gives_evidence_nothing_is_added(conn: Any) -> None:
    rows = _collapsed(conn, [(1, 7, 70, 0, 1, 0.9, True, 2.0), (3, 9, 90, 0, 1, 0.8, False, 1.0)])
    assert [(r["document_id"], r["fused_score"], r["prior"]) for r in rows] == [(70, 2.0, 0), (90, 1.0, 0)]


def test_equal_scores_are_ordered_by_rank_then_number_of_branches_then_key(conn: Any) -> None:
    parts: list[Part] = [
        (1, 7, 1, 0, 3, 0.5, True, 1.0),
        (1, 7, 2, 0, 2, 0.5, True, 1.0),
        (1, 7, 3, 0, 2, 0.5, True, 0.5),
        (2, 7, 3, 0, 2, 0.5, True, 0.5),
        (1, 7, 4, 0, 2, 0.5, True, 1.0),
    ]
    rows = _collapsed(conn, parts, evidence_branch=[])
    assert [r["document_id"] for r in rows] == [3, 2, 4, 1]


def test_only_the_best_documents_are_kept_but_all_that_were_found_are_counted(conn: Any) -> None:
    rows = _collapsed(conn, TWO, evidence_branch=[], documents=1)
    assert {r["document_id"] for r in rows} == {70} and {r["found"] for r in rows} == {3}
