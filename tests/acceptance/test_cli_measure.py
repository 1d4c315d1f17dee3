"""Judged questions asked, runs compared, settings proposed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TOPICS = [
    "leave",
    "travel",
    "overtime",
    "backup",
    "deployment",
    "contracts",
    "pensions",
    "parking",
    "training",
    "visitors",
]


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A folder as BEIR has it: ten documents, each with a question that is judged."""
    (tmp_path / "qrels").mkdir()
    corpus = [{"_id": topic, "title": topic, "text": f"All that is to be said of {topic} here."} for topic in TOPICS]
    queries = [{"_id": f"q{i}", "text": f"what of {topic}?"} for i, topic in enumerate(TOPICS)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    grades = "".join(f"q{i}\t{topic}\t1\n" for i, topic in enumerate(TOPICS))
    (tmp_path / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{grades}", encoding="utf-8")
    return tmp_path


@pytest.fixture
def loaded(run: Run, judged: Path) -> Run:
    assert run("embedder", "add", "h", "words", "--kind", "hashing", "--dimensions", "64").code == 0
    assert run("collection", "create", "notes", "--embedder", "h").code == 0
    assert run("ingest", "notes", str(judged / "corpus.jsonl"), "--format", "beir").code == 0
    return run


def test_every_mode_is_measured_and_the_right_words_find_the_right_document(loaded: Run, judged: Path) -> None:
    rows = loaded("eval", "run", "notes", "--data", str(judged), "--json").json
    assert [row["mode"] for row in rows] == ["lexical", "dense", "hybrid", "rrf"]
    assert {row["questions"] for row in rows} == {10} and rows[0]["nDCG@10"] == 1.0
    shown = loaded("eval", "run", "notes", "--data", str(judged), "--mode", "lexical", "--limit", "3").out
    assert "nDCG@10" in shown and "hybrid" not in shown


def test_runs_are_kept_and_compared(loaded: Run, judged: Path, tmp_path: Path) -> None:
    first, second = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    for file in (first, second):
        assert loaded("eval", "run", "notes", "--data", str(judged), "--mode", "lexical", "--save", file).code == 0
    told = loaded("eval", "diff", first, second, "--json").json["notes/lexical"]
    assert (told["questions"], told["difference"], told["wins"], told["losses"]) == (10, 0.0, 0, 0)
    ended = loaded("eval", "diff", first, second)
    assert "notes/lexical" in ended.out.replace("\n", ""), ended.out
    assert "fewer than" in ended.err


def test_a_proposal_says_what_it_is_worth_and_changes_nothing(loaded: Run, judged: Path) -> None:
    told = loaded("tune", "notes", "--data", str(judged), "--json").json
    assert told["questions"] == 10 and 0 < told["held_out"] <= 1 and told["profile"]["fusion"]
    ended = loaded("tune", "notes", "--data", str(judged))
    assert "gain" in ended.out and "few questions" in ended.err


def test_what_cannot_be_measured_is_refused(loaded: Run, judged: Path, tmp_path: Path) -> None:
    assert loaded("eval", "run", "notes", "--data", str(judged), "--mode", "hybird").code == 2
    assert loaded("eval", "run", "noted", "--data", str(judged)).code == 6
    assert loaded("eval", "run", "notes", "--data", str(tmp_path / "nowhere")).code == 2
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert loaded("eval", "diff", str(tmp_path / "broken.json"), str(tmp_path / "broken.json")).code != 0


# ── recall ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_recall_is_measured_drawn_and_written(loaded: Run, tmp_path: Path) -> None:
    page, asked = tmp_path / "recall.html", ("recall", "notes", "--candidates", "3", "--sample", "10")
    asked = (*asked, "--ef-search", "10", "--ef-search", "40")
    told = loaded(*asked, "--plot", str(page), "--json").json
    (line,) = told["lines"]
    assert [point["ef_search"] for point in line["points"]] == [10, 40] and told["sample"] == 10
    assert told["enough"] == 10 and line["points"][0]["recall"] == 1.0 and not told["written"] and not told["used"]
    assert "<svg" in page.read_text("utf-8") and "http" not in page.read_text("utf-8").replace(
        "http-equiv", ""
    ).replace("http://www.w3.org/2000/svg", "")
    assert loaded("collection", "show", "notes", "--json").json["index"]["ef_search"] == 100
    ended = loaded(*asked, "--write")
    assert "ef_search 10 finds 99.0%" in ended.err and "exact" in ended.out
    assert loaded("collection", "show", "notes", "--json").json["index"]["ef_search"] == 10


def test_a_recall_that_cannot_be_drawn_or_asked_is_refused(loaded: Run, tmp_path: Path) -> None:
    assert loaded("recall", "notes", "--plot", str(tmp_path / "a.png")).code == 2
    assert loaded("recall", "notes", "--filter", "{").code == 7
    assert loaded("recall", "notes", "--ef-search", "1001").code == 2
    assert loaded("recall", "nowhere").code == 6
