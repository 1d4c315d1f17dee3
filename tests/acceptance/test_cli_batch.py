"""Loading from everywhere: patterns, Parquet, standard input, queries; what was rejected, fed again; rehearsed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

Run = Callable[..., Any]


@pytest.fixture
def notes(run: Run) -> Run:
    assert run("embedder", "add", "h", "words", "--kind", "hashing", "--dimensions", "64").code == 0
    assert run("collection", "create", "notes", "--embedder", "h").code == 0
    return run


def lines(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_pattern_loads_what_it_matches(notes: Run, tmp_path: Path) -> None:
    for name in ("a.md", "deep/b.md", "deep/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    assert notes("ingest", "notes", str(tmp_path / "**/*.md"), "--json").json["added"] == 2
    assert notes("ingest", "notes", str(tmp_path / "*.pdf")).code == 2


def test_parquet_rows_become_documents(notes: Run, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = {"id": [1, 2, 3], "text": ["one text", "two texts", None], "year": [2024, 2025, 2026]}
    parquet.write_table(pyarrow.table(rows), tmp_path / "rows.parquet")
    report = notes("ingest", "notes", str(tmp_path / "rows.parquet"), "--json").json
    assert (report["added"], [r["external_id"] for r in report["rejected"]]) == (2, ["3"])
    assert notes("document", "show", "notes", "2", "--json").json["metadata"] == {"year": 2025}


def test_standard_input_is_loaded(notes: Run) -> None:
    assert notes("ingest", "notes", "-", "--json", input='{"id": "a", "text": "one"}\n').json["added"] == 1


def test_the_rows_of_a_query_become_documents(notes: Run, database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE post (id uuid DEFAULT gen_random_uuid(), body text, written date)")
        connection.execute(
            "INSERT INTO post (body, written) SELECT 'post ' || n, '2024-05-01' FROM generate_series(1, 5000) n"
        )
    query = "SELECT id, body AS text, written FROM post"
    report = notes("ingest", "notes", "--query", query, "--json").json
    assert (report["added"], report["rejected"]) == (5000, [])
    assert notes("ingest", "notes", "--query", query, "--json").json["unchanged"] == 5000
    assert notes("ingest", "notes", "--query", "DELETE FROM post RETURNING id, body AS text").code == 11
    assert notes("ingest", "notes", "--query", query, "-").code == 2
    assert notes("ingest", "notes").code == 2


def test_what_was_rejected_can_be_fed_again(notes: Run, tmp_path: Path) -> None:
    given = lines(tmp_path / "all.jsonl", {"id": "a", "text": "fine"}, {"id": "b", "text": " ", "metadata": {"n": 1}})
    out = tmp_path / "rejected.jsonl"
    assert notes("ingest", "notes", given, "--rejected", str(out)).code == 8
    (row,) = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert row["external_id"] == "b" and "no text" in row["pgbraid_rejected"]
    lines(out, {**row, "text": "now it has some"})
    assert notes("ingest", "notes", str(out), "--json").json["added"] == 1
    assert notes("document", "show", "notes", "b", "--json").json["metadata"] == {"n": 1}


def test_a_dry_run_tells_size_time_and_cost_and_writes_nothing(notes: Run, tmp_path: Path) -> None:
    given = lines(tmp_path / "all.jsonl", *({"id": i, "text": f"text {i} " * 20} for i in range(50)))
    told = notes("ingest", "notes", given, "--dry-run", "--price", "2", "--json").json
    assert (told["added"], told["chunks"], told["dimensions"]) == (50, 50, 64)
    assert told["cost"] == round(told["tokens"] * 2 / 1e6, 4) and told["seconds"] > 0
    assert notes("collection", "show", "notes", "--json").json["documents"] == 0
    for refused in (["--price", "2"], ["--dry-run", "--restart"], ["--query-dsn", "x"]):
        assert notes("ingest", "notes", given, *refused).code == 2


def test_a_load_of_files_that_was_interrupted_goes_on_unless_it_shall_not(
    notes: Run, tmp_path: Path, database: str
) -> None:
    given = lines(tmp_path / "all.jsonl", *({"id": i, "text": f"text {i}"} for i in range(30)))
    from pgbraid.cli.sources import sources

    name = sources([given], None, None).checkpoint(None)
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO pgbraid.checkpoint (collection_id, name, position) SELECT id, %s, 10 FROM pgbraid.collection",
            (name,),
        )
    assert notes("ingest", "notes", given, "--json").json["resumed"] == 10
    assert notes("ingest", "notes", given, "--restart", "--json").json["added"] == 10
    (tmp_path / "all.jsonl").touch()
    assert sources([given], None, None).checkpoint(None) != name
