"""Connections of our own: opened late, one pool a process, replaced when lost, and without any state of a session."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import pgbraid
from fix_braid import HANDBOOK, constant, counted, documents, ids, made_of, recounted, whole, with_function
from fix_waits import blocked, busy, connected, terminate, until
from pgbraid import Braid, Document
from pgbraid.errors import ConnectionLost

QUESTION = "annual leave days"


@pytest.fixture
def filled(braid: Braid) -> Braid:
    """A braid on a database of its own with the collection `notes`, and its connections closed."""
    made_of(braid)
    braid.ingest("notes", documents(HANDBOOK))
    braid.close()
    return braid


def asked(braid: Braid) -> list[str]:
    return ids(braid.search(QUESTION, top_k=1, collections="notes"))


# ── late and few ───────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_opened_before_the_first_use(filled: Braid, own: str) -> None:
    until(lambda: not connected(own))
    before = threading.active_count()
    with pgbraid.connect(own) as mine:
        assert not connected(own) and threading.active_count() == before
        assert asked(mine) == ["leave"]
        until(lambda: len(connected(own)) == 1)
    until(lambda: not connected(own))


def test_a_closed_braid_opens_again_when_it_is_used(filled: Braid) -> None:
    for _ in range(2):
        assert asked(filled) == ["leave"]
        filled.close()
    filled.close()


def test_no_more_connections_are_made_than_allowed(filled: Braid, own: str) -> None:
    seen: list[int] = []
    with pgbraid.connect(own, pool_max=2) as mine, ThreadPoolExecutor(8) as threads:

        def work(_: int) -> list[str]:
            found = asked(mine)
            seen.append(len(connected(own)))
            return found

        asked(mine)  # the connection that only greets is gone then
        assert list(threads.map(work, range(40))) == [["leave"]] * 40
        assert max(seen) == 2


def test_a_pool_that_is_used_up_says_so(filled: Braid, own: str) -> None:
    with (
        pgbraid.connect(own, pool_max=1, connect_timeout=1) as mine,
        mine._database.link(),
        pytest.raises(ConnectionLost, match="raise pool_max"),
    ):
        mine.collections()


# ── fork ───────────────────────────────────────────────────────────────────────────────────────────────────

FORKED = """
import gc, os, sys, threading, pgbraid
braid = pgbraid.connect(sys.argv[1])
def ask():
    return [p.external_id for p in braid.search("annual leave days", top_k=1, collections="notes").passages]
assert ask() == ["leave"]
mine = list(braid._database._pools.values())
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        good = ask() == ["leave"] and list(braid._database._pools.values()) != mine
        gc.collect()
        braid.close()
        os._exit(0 if good else 1)
    children.append(child)
assert ask() == ["leave"]
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
assert list(braid._database._pools.values()) == mine and ask() == ["leave"]
braid.close()
print("both", flush=True)
"""


def test_a_braid_made_before_a_fork_serves_parent_and_children(filled: Braid, own: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKED, own], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr, done.returncode) == ("both\n", "", 0)


# ── lost ───────────────────────────────────────────────────────────────────────────────────────────────────

ACTS: dict[str, Callable[[Braid], Any]] = {
    "search": lambda b: asked(b) == ["leave"],
    "collections": lambda b: [c.name for c in b.collections()] == ["notes"],
    "document": lambda b: b.document("notes", "leave")["external_id"] == "leave",  # type: ignore[index]
    "ingest": lambda b: b.ingest("notes", [Document("new", "a text")]).added == 1,
    "delete": lambda b: b.delete("notes", "leave") == ("leave",),
    "refresh_words": lambda b: b.refresh_words("notes").done,
}


@pytest.mark.parametrize("act", ACTS)
def test_a_backend_that_was_terminated_meanwhile_is_not_noticed(filled: Braid, own: str, act: str) -> None:
    asked(filled)
    terminate(own, *connected(own))
    assert ACTS[act](filled)


def test_all_backends_can_go_at_once(filled: Braid, own: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: asked(filled), range(20)))
        for _ in range(3):
            terminate(own, *connected(own))
            assert list(threads.map(lambda _: asked(filled), range(8))) == [["leave"]] * 8


@pytest.fixture
def held(filled: Braid, own: str) -> Iterator[str]:
    """Nobody can read or write documents while this lasts."""
    table = filled.collection("notes").document_table
    filled.close()
    with psycopg.connect(own) as connection:
        connection.execute(f"LOCK TABLE pgbraid.{table} IN ACCESS EXCLUSIVE MODE".encode())
        yield own


def test_a_backend_that_is_terminated_during_a_search_is_an_error_and_the_next_search_works(
    filled: Braid, held: str
) -> None:
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(asked, filled)
        until(lambda: blocked(held))
        terminate(held, *blocked(held))
        with pytest.raises(ConnectionLost, match="tried again"):
            answer.result()
    assert [c.name for c in filled.collections()] == ["notes"]


def test_a_backend_that_is_terminated_while_it_writes_leaves_nothing_half_written(filled: Braid, own: str) -> None:
    known = filled.collection("notes")
    loaded = [Document("leave", "Another text about leave."), *(Document(f"d{i}", f"text {i}") for i in range(20))]
    with psycopg.connect(own) as other:
        other.execute(f"LOCK TABLE pgbraid.{known.chunk_table} IN EXCLUSIVE MODE".encode())  # reading goes on
        with ThreadPoolExecutor(1) as thread:
            report = thread.submit(filled.ingest, "notes", loaded)
            until(lambda: blocked(own))
            terminate(own, *blocked(own))
            with pytest.raises(ConnectionLost):
                report.result()
        assert asked(filled) == ["leave"]
        assert filled.document("notes", "leave")["text"] == HANDBOOK["leave"]  # type: ignore[index]
        assert filled.collection("notes").documents == len(HANDBOOK)
    assert filled.ingest("notes", loaded).added == 20
    whole(own, known)
    assert counted(own, known) == recounted(own, known)


def test_a_backend_that_is_terminated_while_texts_are_embedded_does_no_harm(braid: Braid, own: str) -> None:
    """No connection waits for a model, so there is nothing to lose."""
    victims: list[int] = []

    def embed(texts: Sequence[str]) -> Any:
        victims.extend(connected(own))
        terminate(own, *connected(own))
        return constant(texts)

    with_function(braid, "f", embed)
    made_of(braid, embedder="f")
    assert braid.ingest("notes", documents(HANDBOOK)).added == len(HANDBOOK)
    assert braid.search(QUESTION, collections="notes").status == "found" and victims


# ── not there ──────────────────────────────────────────────────────────────────────────────────────────────


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    """At once: not after connect_timeout, which is longer than a test may take."""
    dsn = f"postgresql://somebody:secret@127.0.0.1:{free_port()}/nowhere"
    with pgbraid.connect(dsn, connect_timeout=3600) as braid:
        for act in (braid.collections, lambda: braid.search("x"), lambda: braid.ingest("notes", [])):
            with pytest.raises(ConnectionLost, match="Check that the server runs and that the DSN is right") as error:
                act()
            assert "secret" not in str(error.value)


def test_a_database_that_does_not_exist_is_named(server_dsn: str) -> None:
    dsn = make_conninfo(server_dsn, dbname="no_such_database")
    with pgbraid.connect(dsn) as braid, pytest.raises(ConnectionLost, match="no_such_database"):
        braid.collections()


def test_a_server_that_went_away_is_told_at_once(filled: Braid, own: str, tmp_path: Path) -> None:
    """The database goes from under a pool that is open; what the pool would wait for is an hour."""
    with pgbraid.connect(own, connect_timeout=3600) as mine:
        assert asked(mine) == ["leave"]
        name = str(psycopg.conninfo.conninfo_to_dict(own)["dbname"])
        with psycopg.connect(make_conninfo(own, dbname="postgres"), autocommit=True) as connection:
            rename = f'ALTER DATABASE "{name}" RENAME TO "{name}_gone"'
            back = f'ALTER DATABASE "{name}_gone" RENAME TO "{name}"'
            terminate(own, *connected(own))
            connection.execute(rename.encode())
            try:
                with pytest.raises(ConnectionLost, match="Check that the server runs"):
                    asked(mine)
            finally:
                connection.execute(back.encode())
        assert asked(mine) == ["leave"]


# ── a pooler in transaction mode ───────────────────────────────────────────────────────────────────────────


def test_nothing_of_a_session_is_left_on_a_pooled_connection(filled: Braid, own: str) -> None:
    """What a pooler in transaction mode would hand to the next client: prepared statements, settings, stages, locks."""
    with pgbraid.connect(own, pool_max=1) as mine:
        with mine._database.link() as link:
            clean = left_over(link.connection)
            assert link.connection.prepare_threshold is None
        for _ in range(8):  # psycopg would prepare after five
            asked(mine)
            mine.ingest("notes", [Document(f"d{i}", f"text {i} {_}") for i in range(3)])
            mine.document("notes", "d1")
        mine.delete("notes", ["d1", "d2"])
        mine.refresh_words("notes", exact=True)
        with mine._database.link() as link:
            assert left_over(link.connection) == clean
            assert clean["prepared"] == clean["stages"] == clean["locks"] == clean["listening"] == 0
        assert not busy(own)


def left_over(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """What a session carries: an empty text for settings of ours counts like none."""
    asked = {
        "prepared": "SELECT count(*) FROM pg_prepared_statements",
        "stages": "SELECT count(*) FROM pg_class WHERE relpersistence = 't'",
        "locks": "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
        "listening": "SELECT count(*) FROM pg_listening_channels()",
        "settings": """SELECT coalesce(array_agg(name || '=' || setting ORDER BY name), '{}') FROM pg_settings
            WHERE source = 'session' AND setting <> ''""",
    }
    return {name: connection.execute(query.encode()).fetchone()[0] for name, query in asked.items()}  # type: ignore[index]


def test_statements_are_prepared_where_that_is_asked_for(filled: Braid, own: str) -> None:
    """Or else the setting would be accepted and ignored."""
    with pgbraid.connect(own, pool_max=1, prepare_threshold=0) as mine:
        mine.ingest("notes", [Document("d", "a text")])
        with mine._database.link() as link:
            assert left_over(link.connection)["prepared"] > 0


def test_each_transaction_may_come_over_another_backend(filled: Braid, own: str) -> None:
    """As behind a pooler in transaction mode: between two transactions the backend is exchanged."""
    with pgbraid.connect(own, pool_max=1) as mine:
        seen: set[int] = set()
        for i in range(5):
            assert asked(mine) == ["leave"]
            assert mine.ingest("notes", [Document(f"d{i}", f"text {i}")]).added == 1
            seen.update(connected(own))
            terminate(own, *connected(own))
        assert len(seen) == 5


def test_a_process_that_ends_without_close_says_nothing(filled: Braid, own: str) -> None:
    script = "import sys, pgbraid; pgbraid.connect(sys.argv[1]).collections()"
    done = subprocess.run([sys.executable, "-c", script, own], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
