"""`pgbraid explain`: the plan that PostgreSQL ran, as text, JSON and one page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

Run = Callable[..., Any]


def test_the_statement_and_its_plan_are_told(filled: Run) -> None:
    said = filled("explain", "合同审批流程").out
    assert "legal/dense" in said and "pages hit" in said and "/* pgbraid:retrieve/composed */" in said
    told = filled("explain", "days of leave", "-c", "hr", "--json").json
    assert {b["name"] for b in told["branches"]} == {"hr/dense", "hr/lexical"}
    assert all(b["rows"] >= 0 and b["milliseconds"] > 0 for b in told["branches"])
    assert told["execution_ms"] > 0 and told["plan"]["Plan"]["Node Type"]
    assert told["result"]["passages"][0]["external_id"] == "leave.md"


def test_the_hits_of_the_plan_are_those_of_the_trace(filled: Run) -> None:
    told = filled("explain", "days of leave", "-c", "hr", "-c", "legal", "--json").json
    hits = {name.removesuffix(" hits"): n for name, n in told["result"]["trace"]["counts"].items() if "hits" in name}
    assert {b["name"]: b["rows"] for b in told["branches"]} == hits


def test_the_statement_can_be_pasted(filled: Run, tmp_path: Path) -> None:
    told = filled("explain", "days of leave", "-c", "hr", "--json").json
    dsn = filled("status", "--json").json["dsn"]
    with psycopg.connect(dsn) as connection:
        assert connection.execute(told["statement"].encode()).rowcount > 0


def test_a_page_is_written_and_refers_to_nothing_outside(filled: Run, tmp_path: Path) -> None:
    ended = filled("explain", "<b>合同</b> 审批", "--html", str(tmp_path / "page.html"))
    shown = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ended.code == 0 and "written" in ended.err and ended.out == ""
    assert shown.startswith("<!doctype html>") and "&lt;b&gt;合同" in shown and "<b>合同" not in shown
    assert not any(mark in shown for mark in ("http://", "https://", "<script", "url(", "@import"))
    assert filled("explain", "x", "--html", "/no/such/folder/page.html").code == 2
