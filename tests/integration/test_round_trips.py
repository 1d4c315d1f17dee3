"""How often the server is asked, counted on the wire: at ReadyForQuery it has answered all that was sent."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, suppress

import psycopg
import pytest

import pgbraid
from fix_wire import Relay
from pgbraid import Braid
from pgbraid.rerank import from_callable

READY = b"Z"
QUESTION = "approval of leave by the manager, and a contract"


class Wire(Relay):
    """A relay that counts the server's ReadyForQuery messages."""

    def __init__(self, dsn: str) -> None:
        self.ready = 0
        super().__init__(dsn)

    def _to_client(self, server: socket.socket, client: socket.socket) -> None:
        left = b""
        with suppress(OSError), closing(client), closing(server):
            while data := server.recv(1 << 16):
                left = self._count(left + data)
                client.sendall(data)

    def _count(self, data: bytes) -> bytes:
        """Walk over whole messages: a byte of kind, four of length, and the rest."""
        while len(data) >= 5 and len(data) >= (size := 1 + int.from_bytes(data[1:5], "big")):
            self.ready += data[:1] == READY
            data = data[size:]
        return data


@pytest.fixture(scope="module")
def wire(library_dsn: str) -> Iterator[Wire]:
    relay = Wire(library_dsn)
    yield relay
    relay.close()


@pytest.fixture
def far(wire: Wire) -> Iterator[Braid]:
    """A braid behind the wire, with its connection made and its model loaded."""
    with pgbraid.connect(wire.dsn) as opened:
        opened.register_reranker("longest", from_callable(lambda _, texts: [len(t) for t in texts], "longest"))
        opened.search(QUESTION, rerank="longest")
        yield opened


def test_a_search_over_three_collections_takes_two_round_trips(far: Braid, wire: Wire) -> None:
    before = wire.ready
    result = far.search(QUESTION)
    assert wire.ready - before == 2 == result.trace.round_trips
    assert len(result.decision.chosen) == 3 or result.decision.selector == "rules"
    before = wire.ready
    asked = far.search(QUESTION, collections=["hr", "legal", "tech"], filter={"a": {"exists": False}}, top_k=3)
    assert wire.ready - before == 2 == asked.trace.round_trips and len(asked.passages) == 3


def test_reranking_takes_one_more(far: Braid, wire: Wire) -> None:
    before = wire.ready
    result = far.search(QUESTION, collections=["hr", "legal", "tech"], rerank="longest")
    assert wire.ready - before == 3 == result.trace.round_trips and result.passages[0].rerank_score is not None


def test_routing_takes_one(far: Braid, wire: Wire) -> None:
    before = wire.ready
    far.route(QUESTION)
    assert wire.ready - before == 1


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_borrowed_connection_needs_no_more(far: Braid, wire: Wire, autocommit: bool) -> None:
    with psycopg.connect(wire.dsn, autocommit=autocommit) as connection:
        connection.execute("SELECT 1")
        before = wire.ready
        far.using(connection).search(QUESTION)
        assert wire.ready - before == 2
        far.using(connection).search(QUESTION, rerank="longest")
        assert wire.ready - before == 5


def test_what_the_server_is_gets_asked_once_for_all_borrowed_connections(wire: Wire) -> None:
    mine = pgbraid.connect(wire.dsn)
    with psycopg.connect(wire.dsn) as connection:
        mine.using(connection).search(QUESTION)
        before = wire.ready
        mine.using(connection).search(QUESTION)
        assert wire.ready - before == 2


def test_loading_what_is_there_already_takes_two_whatever_its_size(far: Braid, wire: Wire) -> None:
    held = [far.document("hr", name) for name in ("leave", "sick", "travel", "overtime")]
    again = [pgbraid.Document(d["external_id"], d["text"], d["title"], d["metadata"]) for d in held if d]
    before = wire.ready
    report = far.ingest("hr", again)
    assert report.unchanged == 4 and wire.ready - before == 2
