"""Writers at once: nobody waits for ever, counts are true, documents whole, and who dies leaves nothing half done."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg
import pytest

import pgbraid
from fix_braid import HANDBOOK, counted, documents, ids, made_of, recounted, rows, whole
from fix_waits import blocked, busy, connected, until
from pgbraid import Braid, Document
from pgbraid.errors import AlreadyExists, NoSuchCollection, StatementFailed

HOT = "the hot words that each of them has"


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Begin all at the same moment; what each gave or raised."""
    together = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        together.wait(30)
        try:
            return work()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def consistent(dsn: str, braid: Braid, name: str = "notes") -> None:
    known = braid.collection(name)
    whole(dsn, known)
    assert counted(dsn, known) == recounted(dsn, known)


@pytest.fixture
def braids(own: str) -> Iterator[list[Braid]]:
    """Eight braids, as in eight processes."""
    opened = [pgbraid.connect(own) for _ in range(8)]
    made_of(opened[0])
    yield opened
    for braid in opened:
        braid.close()


@pytest.mark.parametrize("batch_size", [3, 200])
def test_eight_writers_of_overlapping_documents_with_the_same_words(
    braids: list[Braid], own: str, batch_size: int
) -> None:
    """Each in an order of its own, which would deadlock if they took documents or words as they come."""

    def work(number: int) -> Callable[[], Any]:
        chance = random.Random(number)
        names = [f"d{i}" for i in range(40)]
        chance.shuffle(names)
        given = [Document(name, f"{HOT} and {number} said it {chance.randint(1, 9)} times") for name in names[:30]]
        return lambda: braids[number].ingest("notes", given, batch_size=batch_size)

    for report in at_once(*map(work, range(8))):
        assert not isinstance(report, Exception), report
        assert report.added + report.changed + report.unchanged == 30 and not report.rejected
    consistent(own, braids[0])
    assert braids[0].collection("notes").documents == 40
    words = rows(own, "SELECT count(*) FROM pgbraid.lexeme WHERE word = 'hot'")
    assert words[0][0] >= 1
    braids[0].refresh_words("notes", exact=True)
    consistent(own, braids[0])


def test_two_writers_of_one_document_leave_one_of_both_texts(braids: list[Braid], own: str) -> None:
    texts = ["one " * 40 + "mine. " + "two " * 40 + "end", "theirs " * 90 + "end"]
    for _ in range(5):
        given = [lambda n=n: braids[n].ingest("notes", [Document("same", texts[n])]) for n in (0, 1)]
        for report in at_once(*given):
            assert report.added + report.changed + report.unchanged == 1
        assert (braids[0].document("notes", "same") or {})["text"] in texts
        consistent(own, braids[0])
        braids[0].delete("notes", "same")
    assert recounted(own, braids[0].collection("notes"))[1] == (0, 0, 0)


def test_two_who_make_the_same_collection_at_once(braids: list[Braid]) -> None:
    results = at_once(*(lambda b=b: made_of(b, "both") for b in braids))
    assert sum(isinstance(result, AlreadyExists) for result in results) == 7
    assert sum(isinstance(result, pgbraid.Collection) for result in results) == 1
    assert braids[0].ingest("both", documents(HANDBOOK)).added == len(HANDBOOK)


def forever(act: Callable[[int], Any]) -> None:
    """Go on until it raises."""
    for i in itertools.count():
        act(i)


def test_a_collection_dropped_under_its_writers_and_readers_is_gone_for_all(braids: list[Braid]) -> None:
    """They are told that it is gone; nobody deadlocks."""

    def write(name: str, number: int) -> None:
        forever(lambda i: braids[number].ingest(name, [Document(f"d{number} {i}", f"{HOT} {i}")]))

    def read(name: str, number: int) -> None:
        asked = braids[number]
        forever(lambda i: asked.document(name, "leave") if i % 2 else asked.search("annual leave", collections=name))

    def drop(name: str) -> None:
        until(lambda: braids[0].collection(name).documents > len(HANDBOOK) + 2)
        braids[0].drop_collection(name)

    for name in ("first", "second", "third", "fourth"):
        made_of(braids[0], name)
        braids[0].ingest(name, documents(HANDBOOK))
        works = [
            partial(drop, name),
            *(partial(write, name, n) for n in (1, 2)),
            *(partial(read, name, n) for n in (3, 4)),
        ]
        dropped, *errors = at_once(*works)
        assert dropped is None
        for error in errors:
            missing = isinstance(error, StatementFailed) and error.sqlstate == "42P01"
            assert missing or isinstance(error, NoSuchCollection), repr(error)
    assert [c.name for c in braids[0].collections()] == ["notes"]


LOADING = """
import sys, pgbraid
from pgbraid import Document
with pgbraid.connect(sys.argv[1]) as braid:
    report = braid.ingest("notes", [Document(f"d{i}", f"text {i} " * 30) for i in range(50)], batch_size=10)
    print(report.added, report.unchanged, flush=True)
"""


def test_a_process_that_is_killed_while_it_writes_leaves_whole_batches_and_loading_again_completes(
    braids: list[Braid], own: str
) -> None:
    braid = braids[0]
    known = braid.collection("notes")
    braid.ingest("notes", [Document("d25", "held")])
    with psycopg.connect(own) as other:  # its third batch has to wait for this document
        other.execute(f"SELECT 1 FROM pgbraid.{known.document_table} FOR UPDATE".encode())
        writer = subprocess.Popen([sys.executable, "-c", LOADING, own], stdout=subprocess.PIPE)
        until(lambda: blocked(own))
        (backend,) = blocked(own)
        os.kill(writer.pid, signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL and writer.stdout and writer.stdout.read() == b""
        writer.stdout.close()
    until(lambda: backend not in connected(own))
    assert not busy(own)
    assert braid.collection("notes").documents == 21
    consistent(own, braid)
    again = subprocess.run([sys.executable, "-c", LOADING, own], capture_output=True, text=True, check=True)
    assert again.stdout.split() == ["29", "20"]
    assert braid.collection("notes").documents == 50
    consistent(own, braid)


def until_set(event: threading.Event, act: Callable[[], Any]) -> None:
    while not event.is_set():
        act()


def test_upkeep_goes_on_beside_writers_and_readers(braids: list[Braid], own: str) -> None:
    done = threading.Event()

    def write(number: int) -> None:
        for i in range(15):
            longer = " ".join([HOT] * (1 + i % 5))
            braids[number].ingest("notes", [Document(f"d{i}", f"{longer} {number} {i}"), Document(f"e{number}", HOT)])

    def read() -> None:
        for passage in braids[5].search("hot words", collections="notes", dense_weight=0).passages:
            assert all(score.score > 0 for chunk in passage.chunks for score in chunk.branches)

    def writers() -> Sequence[Any]:
        results = at_once(*(partial(write, number) for number in range(4)))
        done.set()
        return results

    keep = partial(until_set, done, lambda: braids[4].refresh_words("notes", exact=True))
    assert at_once(writers, keep, partial(until_set, done, read)) == [[None] * 4, None, None]
    consistent(own, braids[0])
    assert len(ids(braids[0].search("hot words", collections="notes", top_k=50))) == 19
