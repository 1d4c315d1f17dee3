"""Upkeep: what needs it is done, what does not is left alone, and two at once do no harm. And a copy by pg_dump."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

import pgbraid
from fix_braid import documents, found, made_of, recounted, rows, sentences
from pgbraid import Braid, Document, server
from pgbraid._sync import maintain as upkeep
from pgbraid.errors import NoSuchCollection, SettingsError

GIVEN = [Document(f"d{i}", text) for i, text in enumerate(sentences(31, 400, 20))]


def flushed(dsn: str) -> None:
    """Let the statistics of other connections be seen: they come when those end."""
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT pg_stat_clear_snapshot(), pg_stat_force_next_flush()")


def test_a_collection_in_order_is_left_alone(braid: Braid, own: str) -> None:
    made_of(braid)
    braid.ingest("notes", GIVEN)
    braid.close()
    flushed(own)
    braid.maintain()
    braid.close()
    flushed(own)
    again = braid.maintain()
    assert (again.indexes, again.reweighed, again.vacuumed, again.checkpoints) == ({}, (), (), 0)


def test_a_missing_index_is_built_and_a_broken_one_rebuilt(braid: Braid, own: str) -> None:
    known = made_of(braid)
    index = f"pgbraid.{known.chunk_table}_embedding_hnsw"
    braid.ingest("notes", GIVEN[:50])
    with psycopg.connect(own) as connection:
        connection.execute(f"DROP INDEX {index}")
    assert braid.maintain("notes").indexes == {"notes": "built"}
    with psycopg.connect(own) as connection:
        connection.execute(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index}'::regclass")
    assert braid.maintain().indexes == {"notes": "rebuilt"}
    assert rows(own, f"SELECT indisvalid FROM pg_index WHERE indexrelid = '{index}'::regclass") == [(True,)]


def test_an_index_far_larger_than_its_rows_is_rebuilt(braid: Braid, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "WORTH_IT", 10)
    known = made_of(braid)
    for i in range(4):
        braid.ingest("notes", [Document(d.external_id, f"{d.text} again {i}") for d in GIVEN[:250]])
    size = f"SELECT pg_relation_size('pgbraid.{known.chunk_table}_embedding_hnsw')"
    before = rows(own, size)[0][0]
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(f"ANALYZE pgbraid.{known.chunk_table}")
    assert braid.maintain().indexes == {"notes": "rebuilt"}
    assert rows(own, size)[0][0] < before / 2
    assert braid.maintain().indexes == {}


def test_dead_rows_are_vacuumed_and_statistics_gathered(braid: Braid, own: str) -> None:
    known = made_of(braid)
    braid.ingest("notes", GIVEN)
    braid.delete("notes", [d.external_id for d in GIVEN[:300]])
    braid.close()
    flushed(own)
    done = braid.maintain()
    assert {known.document_table, known.chunk_table} <= set(done.vacuumed)


def test_only_the_named_collection_is_looked_after(braid: Braid, own: str) -> None:
    one, other = made_of(braid, "one"), made_of(braid, "other")
    for name in ("one", "other"):
        braid.ingest(name, GIVEN)
        braid.delete(name, [d.external_id for d in GIVEN[:300]])
    braid.close()
    flushed(own)
    done = braid.maintain("one")
    assert one.chunk_table in done.vacuumed and other.chunk_table not in done.vacuumed
    with pytest.raises(NoSuchCollection):
        braid.maintain("onee")


def test_old_checkpoints_are_forgotten_and_young_ones_kept(braid: Braid, own: str) -> None:
    known = made_of(braid)
    with psycopg.connect(own) as connection:
        connection.execute(
            "INSERT INTO pgbraid.checkpoint VALUES (%s, 'old', 5, now() - interval '40 days'), (%s, 'young', 5, now())",
            (known.id, known.id),
        )
    assert braid.maintain().checkpoints == 1
    assert rows(own, "SELECT name FROM pgbraid.checkpoint") == [("young",)]


def test_four_at_once_beside_a_writer_leave_a_true_collection(own: str) -> None:
    braids = [pgbraid.connect(own) for _ in range(5)]
    known = made_of(braids[0])
    braids[0].ingest("notes", GIVEN)
    with psycopg.connect(own) as connection:
        connection.execute(f"DROP INDEX pgbraid.{known.chunk_table}_embedding_hnsw")
    together = threading.Barrier(5)

    def work(number: int) -> Any:
        together.wait()
        if number == 4:
            return braids[4].ingest("notes", [Document(d.external_id, d.text + " more") for d in GIVEN], batch_size=20)
        return braids[number].maintain()

    with ThreadPoolExecutor(5) as pool:
        done = list(pool.map(work, range(5)))
    assert sum(d.indexes.get("notes") == "built" for d in done[:4]) == 1
    assert done[4].changed == 400
    assert recounted(own, known)[1][0] == 400
    for one in braids:
        one.close()


def test_in_the_applications_transaction_it_is_refused(braid: Braid, own: str) -> None:
    with psycopg.connect(own) as connection, pytest.raises(SettingsError, match="transaction"):
        braid.using(connection).maintain()


# ── a copy ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_database_restored_from_pg_dump_answers_the_same(
    braid: Braid, own: str, made: Callable[..., Any], tmp_path: Any
) -> None:
    made_of(braid, tenants=True)
    braid.ingest("notes", GIVEN[:100])
    braid.ingest("notes", documents({"theirs": "w1 w2 w3"}), tenant="other")
    dump = tmp_path / "copy.dump"
    subprocess.run([str(server.binary("pg_dump")), "-Fc", "-f", str(dump), own], check=True)
    questions = [d.text for d in GIVEN[:15]]
    with made() as dsn:
        restore = [str(server.binary("pg_restore")), "--exit-on-error", "-d", dsn, str(dump)]
        subprocess.run(restore, check=True, capture_output=True)
        with pgbraid.connect(dsn) as copy:
            for question in questions:
                one, two = braid.search(question), copy.search(question)
                assert found(one) == found(two)
                scores = [[p.fused_score for p in result.passages] for result in (one, two)]
                assert scores[0] == pytest.approx(scores[1])
            assert found(copy.search("w1 w2 w3", tenant="other")) == [("notes", "theirs")]
            report = copy.ingest("notes", GIVEN[:101])
            assert (report.added, report.unchanged) == (1, 100)
