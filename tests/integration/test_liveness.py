"""An idle connection whose server is going: the server says so first, and closes a moment later."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import pgbraid
from fix_braid import HANDBOOK, documents, made_of
from fix_waits import connected, terminate, until
from fix_wire import HeldEnd
from pgbraid import Braid
from pgbraid.db.liveness import lost

ACTS: dict[str, Callable[[Braid], Any]] = {
    "collections": lambda b: [c.name for c in b.collections()] == ["notes"],
    "document": lambda b: b.document("notes", "leave")["external_id"] == "leave",  # type: ignore[index]
    "delete": lambda b: b.delete("notes", "leave") == ("leave",),
}


@pytest.fixture
def held(own: str) -> Iterator[HeldEnd]:
    relay = HeldEnd(own)
    yield relay
    relay.close()


def readable(connection: psycopg.Connection[Any]) -> bool:
    """Whether anything that the server sent waits to be read."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(timeout=0))


def test_the_last_words_of_a_backend_mean_that_it_is_lost_though_its_socket_is_open(own: str, held: HeldEnd) -> None:
    with psycopg.connect(held.dsn, autocommit=True) as connection:
        terminate(own, connection.info.backend_pid)
        until(lambda: not held.open)
        assert lost(connection) and not connection.closed


def test_a_live_connection_to_which_something_was_said_is_not_lost(own: str) -> None:
    with psycopg.connect(own, autocommit=True) as connection, psycopg.connect(own, autocommit=True) as other:
        assert not lost(connection)
        connection.execute("LISTEN news")
        other.execute("NOTIFY news")
        until(lambda: readable(connection))
        assert not lost(connection) and connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("act", ACTS)
def test_a_backend_that_has_spoken_its_last_words_but_not_closed_is_not_noticed(
    braid: Braid, own: str, held: HeldEnd, act: str
) -> None:
    made_of(braid)
    braid.ingest("notes", documents(HANDBOOK))
    braid.close()
    with pgbraid.connect(held.dsn) as mine:
        assert mine.document("notes", "leave")
        terminate(own, *connected(own))
        until(lambda: not held.open)
        assert ACTS[act](mine)
