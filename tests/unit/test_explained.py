"""A plan is read for what each branch cost, and the page shows it without letting any text become markup."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from pgbraid.cli.page import page
from pgbraid.cli.picture import Box, picture
from pgbraid.explained import Explanation, explanation, nodes
from pgbraid.values import BranchScore, Candidate, Decision, Failure, MatchedChunk, Passage, SearchResult, Trace

HOSTILE = "</title><script>alert('x')</script> & \"合同\" \x1b[2J"
PLAN: dict[str, Any] = {
    "Planning Time": 1.5, "Execution Time": 9.25,
    "Plan": {
        "Node Type": "Limit", "Actual Total Time": 9.0, "Actual Rows": 3, "Actual Loops": 1,
        "Plans": [
            {"Node Type": "Limit", "Subplan Name": "CTE dense_1", "Actual Total Time": 2.0, "Actual Rows": 100.0,
             "Actual Loops": 1, "Shared Hit Blocks": 40, "Shared Read Blocks": 2,
             "Plans": [{"Node Type": "Index Scan", "Index Name": "chunk_1_embedding_hnsw", "Actual Rows": 50.0,
                        "Actual Total Time": 0.5, "Actual Loops": 2, "Rows Removed by Filter": 30.5}]},
            {"Node Type": "Sort", "Subplan Name": "CTE lexical_2", "Actual Total Time": 3.0, "Actual Rows": 7,
             "Actual Loops": 1, "Plans": [{"Node Type": "Seq Scan", "Relation Name": "chunk_1", "Actual Rows": 7,
                                           "Actual Loops": 1, "Actual Total Time": 2.5}]},
        ],
    },
}  # fmt: skip
NAMES = {"dense_1": "hr/dense", "lexical_2": "hr/lexical", "dense_3": "legal/dense"}


def result(text: str = "leave", **others: Any) -> SearchResult:
    scores = (BranchScore("hr/dense", 1, 0.9, "cosine", 2.5), BranchScore("hr/lexical", 2, 3.25, "bm25", -0.5))
    chunk = MatchedChunk(0, 0, len(text), text, (), 2.0, None, scores)
    passage = Passage("hr", text, text, text, {}, 2.0, None, (chunk,))
    decision = Decision("rules", ("hr",), (Candidate("hr", matched=(text,)), Candidate("legal")), f"matched {text}")
    trace = Trace({"retrieve": 8.0, "total": 9.0}, {"hr/dense hits": 100, "hr/lexical hits": 0, "documents": 3}, 2)
    return SearchResult(text, "found", (passage,), decision, trace, **others)


class Reader(HTMLParser):
    """What a page has: tags in order, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "path", "rect"):
            self.open.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_plan_is_read_for_the_work_of_each_branch() -> None:
    read = explanation(result(), "select", PLAN, NAMES)
    dense, lexical = read.branches
    assert (dense.name, dense.rows, dense.removed, dense.milliseconds) == ("hr/dense", 100, 61, 2.0)
    assert (dense.indexes, dense.scanned) == (("chunk_1_embedding_hnsw",), ())
    assert (dense.buffers_hit, dense.buffers_read) == (40, 2)
    assert (lexical.indexes, lexical.scanned) == ((), ("chunk_1",))
    assert (read.planning_ms, read.execution_ms) == (1.5, 9.25)
    assert len(list(nodes(PLAN["Plan"]))) == 5


def test_the_page_is_whole_and_holds_what_was_found() -> None:
    read = Reader(page(explanation(result(), "select", PLAN, NAMES)))
    assert read.open == [] and {"svg", "article", "details", "pre"} <= set(read.tags)
    for said in ("hr/dense", "chunk_1_embedding_hnsw", "all of chunk_1", "cosine 0.9000", "+2.5000", "-0.5000", "61"):
        assert said in read.text, said


def test_no_text_becomes_markup() -> None:
    failures = (Failure(f"embedder {HOSTILE}", HOSTILE),)
    shown = page(explanation(result(HOSTILE, failures=failures, degraded=True), HOSTILE, PLAN, {"dense_1": HOSTILE}))
    read = Reader(shown)
    assert "script" not in read.tags and "<script" not in shown and read.open == []
    assert "合同" in read.text and "\x1b" not in shown.partition("<pre>")[0]
    assert read.tags.count("title") == 1 + read.tags.count("g")


def test_an_answer_without_a_search_has_a_page_as_well() -> None:
    nobody = SearchResult("x", "nothing", (), Decision("rules", (), (), "no route matched", policy="none"), Trace())
    read = Reader(page(Explanation(nobody)))
    assert "Nobody was asked" in read.text and "pre" not in read.tags


def _bars(contributions: list[float]) -> list[tuple[float, float]]:
    import re

    from pgbraid.cli.page import _ends, _sum

    return [
        (float(a), float(b))
        for a, b in re.findall(r"left:([\d.]+)%;width:([\d.]+)%", _sum(contributions, _ends(contributions), ["x"] * 9))
    ]


@pytest.mark.parametrize("parts", [[1.0, 2.0], [-1.0, 3.0], [-1.0, -2.0], [0.0], [1.0, -3.0, 2.0, -0.5]])
def test_the_bars_of_a_sum_fill_the_track_and_do_not_overlap(parts: list[float]) -> None:
    bars = sorted(_bars(parts))
    assert all(left >= 0 and left + width <= 100.2 for left, width in bars)
    assert all(a[0] + a[1] <= b[0] + 0.2 for a, b in pairwise(bars))
    assert sum(width for _, width in bars) == pytest.approx(100 if any(parts) else 0, abs=0.5)


def test_a_picture_of_many_branches_keeps_its_boxes_apart() -> None:
    drawn = picture([[Box("decision", "rules")], [Box(f"{i}/dense", "1 hits") for i in range(9)], [Box("fusion", "")]])
    read = Reader(drawn)
    assert read.tags.count("rect") == 11 and read.tags.count("path") == 18
