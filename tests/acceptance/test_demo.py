"""`demo`: loads what a folder declares, asks its questions, and does not load again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
DECLARED = """
embedders: {h: {kind: hashing, model: words, dimensions: 64}}
collections: {hr: {embedder: h}, tech: {embedder: h}, legal: {embedder: h}}
routes: {contracts: {collections: [legal], match: {any: [合同]}}}
default: none
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pgbraid.yaml").write_text(DECLARED, encoding="utf-8")
    (tmp_path / "questions.txt").write_text("# one a line\n合同审批\n\nthe weather\n", encoding="utf-8")
    for name in ("hr", "tech", "legal"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# About {name}\n\n合同审批 and {name}.\n", encoding="utf-8")
    return tmp_path


def test_it_loads_asks_and_shows(run: Run, folder: Path) -> None:
    ended = run("demo", "--dir", str(folder))
    assert ended.code == 0
    assert "legal: 1 documents (1 added)" in ended.err
    assert "About legal" in ended.out and "route contracts matched '合同'" in ended.out
    assert "Nobody was asked" in ended.out and "2 questions" in ended.out
    assert ended.out.count(" ms, ") >= 2 and "retrieve" in ended.out


def test_a_second_run_loads_nothing_and_says_so(run: Run, folder: Path) -> None:
    run("demo", "--dir", str(folder))
    ended = run("demo", "--dir", str(folder))
    assert "nothing changes" in ended.err and "everything was loaded before" in ended.err
    again = run("demo", "--dir", str(folder), "--json").json
    assert [report["embedded"] for report in again["ingested"]] == [0, 0, 0]
    assert [result["status"] for result in again["results"]] == ["found", "nothing"]


def test_a_missing_file_is_named(run: Run, folder: Path) -> None:
    (folder / "questions.txt").unlink()
    ended = run("demo", "--dir", str(folder))
    assert ended.code == 2 and "questions.txt is not there" in ended.err
