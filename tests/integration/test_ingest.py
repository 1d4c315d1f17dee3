"""Loading: once or twice, whole or not at all, and one bad document never loses the others."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psycopg
import pytest

import pgbraid
from fix_braid import (
    HANDBOOK,
    constant,
    counted,
    documents,
    ids,
    made_of,
    recounted,
    rows,
    sentences,
    whole,
    with_function,
)
from pgbraid import Braid, Document, IngestReport, Rejected
from pgbraid.errors import EmbeddingFailed, NoSuchCollection, SettingsError
from pgbraid.rerank import from_callable as reranker_of


class Counting:
    """A function for an embedder that remembers which texts it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        return [[1.0, len(text) % 7, 0, 0] for text in texts]


def stored(dsn: str, braid: Braid, name: str = "notes") -> list[Any]:
    """Where every row of a collection lies, and who wrote it."""
    known = braid.collection(name)
    return [
        rows(dsn, f"SELECT ctid::text, xmin::text FROM pgbraid.{table} ORDER BY 1")
        for table in (known.document_table, known.chunk_table)
    ]


def consistent(dsn: str, braid: Braid, name: str = "notes") -> None:
    known = braid.collection(name)
    whole(dsn, known)
    assert counted(dsn, known) == recounted(dsn, known)


def rejected(report: IngestReport) -> list[str]:
    return [r.external_id for r in report.rejected]


# ── twice, and changed ─────────────────────────────────────────────────────────────────────────────────────


def test_loading_twice_embeds_nothing_and_writes_nothing(braid: Braid, own: str) -> None:
    count = Counting()
    with_function(braid, "f", count)
    made_of(braid, embedder="f")
    given = [Document(f"d{i}", text * 5, "t", {"n": i}) for i, text in enumerate(sentences(1, 30))]
    first = braid.ingest("notes", given)
    assert (first.added, first.seen, first.embedded) == (30, 30, len(count.seen))
    before, asked = stored(own, braid), len(count.seen)
    revision = braid.collection("notes").revision
    second = braid.ingest("notes", reversed(given), batch_size=7)
    assert (second.unchanged, second.added, second.changed, second.embedded, second.chunks_written) == (30, 0, 0, 0, 0)
    assert stored(own, braid) == before and len(count.seen) == asked
    assert braid.collection("notes").revision == revision


def test_of_a_changed_document_only_the_changed_chunks_are_embedded(braid: Braid, own: str) -> None:
    count = Counting()
    with_function(braid, "f", count)
    known = made_of(braid, embedder="f")
    parts = [f"part{i} " + "word " * 20 + "." for i in range(10)]
    braid.ingest("notes", [Document("one", "\n\n".join(parts)), Document("other", parts[0])])
    count.seen.clear()
    parts[4] = "news4 " + "word " * 20 + "."
    report = braid.ingest("notes", [Document("one", "\n\n".join(parts)), Document("other", parts[0])])
    assert (report.changed, report.unchanged, report.added) == (1, 1, 0)
    assert [text.split()[0] for text in count.seen] == ["news4"] and report.embedded == 1
    assert report.chunks_written == 1 and report.chunks_kept == 9
    consistent(own, braid)
    assert known.chunk_table == braid.collection("notes").chunk_table


def test_what_stands_before_moves_the_rest_and_embeds_only_itself(braid: Braid, own: str) -> None:
    count = Counting()
    with_function(braid, "f", count)
    made_of(braid, embedder="f")
    parts = [f"part{i} " + "word " * 20 + "." for i in range(6)]
    braid.ingest("notes", [Document("one", "\n\n".join(parts))])
    count.seen.clear()
    braid.ingest("notes", [Document("one", "\n\n".join(["first " + "word " * 20 + ".", *parts]))])
    assert len(count.seen) == 1
    shown = braid.document("notes", "one")
    assert shown is not None and [c["ordinal"] for c in shown["chunks"]] == list(range(7))
    consistent(own, braid)


def test_a_document_that_shrinks_leaves_no_chunks_behind(braid: Braid, own: str) -> None:
    made_of(braid)
    braid.ingest("notes", [Document("one", "\n\n".join(s + " tail" for s in sentences(2, 40, 20)))])
    braid.ingest("notes", [Document("one", "short tail")])
    shown = braid.document("notes", "one")
    assert shown is not None and [c["text"] for c in shown["chunks"]] == ["short tail"]
    assert (braid.collection("notes").documents, braid.collection("notes").chunks) == (1, 1)
    consistent(own, braid)
    assert len(braid.search("tail").passages[0].chunks) == 1


def test_changed_metadata_reach_the_filter_without_embedding(braid: Braid) -> None:
    count = Counting()
    with_function(braid, "f", count)
    made_of(braid, embedder="f")
    braid.ingest("notes", [Document("one", "text", metadata={"v": 1})])
    asked = len(count.seen)
    assert braid.ingest("notes", [Document("one", "text", metadata={"v": 2})]).changed == 1
    assert len(count.seen) == asked
    assert ids(braid.search("text", filter={"v": 2})) == ["one"]
    assert ids(braid.search("text", filter={"v": 1})) == []


def test_a_deleted_document_is_gone_with_its_chunks(braid: Braid, own: str) -> None:
    known = made_of(braid)
    braid.ingest("notes", documents(HANDBOOK))
    assert braid.delete("notes", ["sick", "nobody", "sick"]) == ("sick",)
    assert braid.delete("notes", "sick") == () and braid.document("notes", "sick") is None
    assert "sick" not in ids(braid.search("sick", top_k=10))
    assert rows(own, f"SELECT count(*) FROM pgbraid.{known.chunk_table} WHERE text LIKE '%%certificate%%'") == [(0,)]
    consistent(own, braid)
    assert braid.ingest("notes", documents(HANDBOOK)).added == 1


def test_what_cannot_be_a_name_names_nothing(braid: Braid) -> None:
    made_of(braid)
    for name in ("\ud800", "a\0b", ""):
        assert braid.document("notes", name) is None and braid.delete("notes", name) == ()
    with pytest.raises(SettingsError):
        made_of(braid, "\ud800")
    with pytest.raises(NoSuchCollection):
        braid.ingest("note", [])


# ── bad documents ──────────────────────────────────────────────────────────────────────────────────────────

ODD: list[Any] = [
    Document("a\0b", "text"),
    Document("\ud800", "text"),
    Document("", "text"),
    Document("x" * 2000, "text"),
    Document("empty", ""),
    Document("blank", " \n\t "),
    Document("only nul", "\0\0"),
    Document("nan", "text", metadata={"x": float("nan")}),
    Document("object", "text", metadata={"x": object()}),
    Document("number", 5),  # type: ignore[arg-type]
    Document(7, "text"),  # type: ignore[arg-type]
    Document("none", "text", metadata=None),  # type: ignore[arg-type]
    Document("tenant", "text", tenant="a\0"),
    Document("no tenants here", "text", tenant="acme"),
    Rejected("unread", "the file could not be read"),
    None,
    {"external_id": "a", "text": "b"},
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd)[:40])
def test_one_bad_document_never_loses_the_rest(braid: Braid, own: str, odd: Any) -> None:
    made_of(braid)
    good = documents(HANDBOOK)
    report = braid.ingest("notes", [*good[:2], odd, *good[2:]])
    assert report.added == 4 and report.seen == 5 and len(report.rejected) == 1 and report.rejected[0].reason
    assert braid.collection("notes").documents == 4
    consistent(own, braid)


def test_a_nul_byte_is_removed_and_reported(braid: Braid) -> None:
    made_of(braid)
    report = braid.ingest("notes", [Document("one", "so\0me te\ud800xt", "ti\0tle", {"k\0": "v\0"})])
    assert report.added == 1 and report.rejected == ()
    assert [c.external_id for c in report.cleaned] == ["one"] and "NUL" in report.cleaned[0].reason
    shown = braid.document("notes", "one")
    assert shown is not None and (shown["text"], shown["title"]) == ("some te\ufffdxt", "title")
    assert shown["metadata"] == {"k": "v"}


@pytest.mark.parametrize(
    "vector", [[np.nan] * 4, [np.inf, 0, 0, 0], [0.0] * 4, [1e30, 0, 0, 0], [1e-30, 0, 0, 0]], ids=str
)
def test_a_vector_that_cannot_be_stored_rejects_its_document_alone(braid: Braid, own: str, vector: list[float]) -> None:
    with_function(braid, "f", lambda texts: [vector if "bad" in t else [1.0, 0, 0, 0] for t in texts])
    made_of(braid, embedder="f")
    report = braid.ingest("notes", [Document("a", "fine"), Document("b", "bad"), Document("c", "fine too")])
    assert report.added == 2 and rejected(report) == ["b"]
    consistent(own, braid)


@pytest.mark.parametrize("kind", ["raises", "wrong shape"])
def test_a_text_that_the_embedder_fails_for_rejects_its_document_alone(braid: Braid, own: str, kind: str) -> None:
    def touchy(texts: Sequence[str]) -> Any:
        if any("bad" in text for text in texts):
            if kind == "raises":
                raise RuntimeError("cannot")
            return np.ones((len(texts), 3), dtype=np.float32)
        return constant(texts)

    with_function(braid, "f", touchy)
    made_of(braid, embedder="f")
    given = [Document("a", "fine"), Document("b", "bad"), Document("c", "fine too"), Document("d", "bad too")]
    for added in (2, 0):  # the second time only the bad ones are left to embed
        report = braid.ingest("notes", given)
        assert report.added == added and rejected(report) == ["b", "d"]
    last = braid.ingest("notes", [*given[:1], Document("e", "fine, new"), Document("f", "bad")], batch_size=2)
    assert last.added == 1 and rejected(last) == ["f"]
    consistent(own, braid)


def test_an_embedder_that_fails_for_everything_is_an_error(braid: Braid, own: str) -> None:
    def broken(texts: Sequence[str]) -> Any:
        raise RuntimeError("no such server")

    with_function(braid, "f", broken)
    made_of(braid, embedder="f")
    for given in (documents(HANDBOOK), documents(HANDBOOK)[:1]):
        with pytest.raises(EmbeddingFailed, match="no such server"):
            braid.ingest("notes", given)
    assert braid.collection("notes").documents == 0


def test_of_two_documents_with_one_id_the_later_counts(braid: Braid, own: str) -> None:
    made_of(braid)
    report = braid.ingest("notes", [Document("one", "first"), Document("two", "x"), Document("one", "second")])
    assert report.added == 2 and [c.external_id for c in report.cleaned] == ["one"]
    shown = braid.document("notes", "one")
    assert shown is not None and shown["text"] == "second"
    consistent(own, braid)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "10"])
def test_a_batch_size_that_cannot_work_is_refused(braid: Braid, size: Any) -> None:
    made_of(braid)
    with pytest.raises(SettingsError, match="batch_size"):
        braid.ingest("notes", documents(HANDBOOK), batch_size=size)


def test_a_document_of_five_megabytes_is_loaded_and_found(braid: Braid, own: str) -> None:
    braid.create_collection(pgbraid.CollectionSpec("notes", "h", chunking=pgbraid.Chunking(2000, 100)))
    text = ("A line of some length that says nothing new at all, again and again.\n" * 75_000) + "A needle, at last."
    assert len(text) > 5_000_000
    report = braid.ingest("notes", [Document("large", text), Document("small", "a line")])
    assert report.added == 2
    passage = braid.search("needle", top_k=1, dense_weight=0).passages[0]
    chunk = passage.chunks[0]
    assert passage.text == text and text[chunk.start : chunk.end] == chunk.text and "needle" in chunk.text


def test_a_word_too_long_for_an_index_and_a_title_as_long_as_a_book_are_stored(braid: Braid, own: str) -> None:
    made_of(braid)
    title = " ".join(f"w{i}" for i in range(50_000))
    report = braid.ingest(
        "notes", [Document("word", "a" * 300_000), Document("title", "some text", title), Document("ok", "fine")]
    )
    assert report.added == 3 and report.rejected == ()
    consistent(own, braid)


# ── counts ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", [1, 2])
def test_counts_equal_a_recount_after_any_changes(braid: Braid, own: str, seed: int) -> None:
    known = made_of(braid, tenants=True)
    chance = random.Random(seed)
    texts = [*sentences(seed, 200, 60), "合同审批 流程", "审批 leave"]
    for step in range(12):
        tenant = chance.choice(["", "acme"])
        names = chance.sample(range(25), chance.randint(1, 12))
        if chance.random() < 0.3:
            braid.delete("notes", [f"d{n}" for n in names], tenant=tenant)
        else:
            given = [Document(f"d{n}", chance.choice(texts), tenant=tenant) for n in names]
            braid.ingest("notes", given, batch_size=chance.choice([3, 200]))
        if step % 5 == 4:
            braid.refresh_words("notes", exact=chance.random() < 0.5)
        consistent(own, braid)
    totals = braid.collection("notes")
    assert (totals.documents, totals.chunks) == recounted(own, known)[1][:2]


def test_folding_counts_changes_none_and_keeps_the_revision(braid: Braid, own: str) -> None:
    known = made_of(braid)
    for text in ("one two", "two three", "three four"):
        braid.ingest("notes", [Document("d", text)])
    before, revision = counted(own, known), braid.collection("notes").revision
    assert braid.refresh_words("notes").done
    assert counted(own, known) == before == recounted(own, known)
    assert braid.collection("notes").revision == revision
    assert rows(own, "SELECT count(*) FROM pgbraid.lexeme_change") == [(0,)]
    assert rows(own, "SELECT count(*) FROM pgbraid.collection_change") == [(1,)]


# ── several at once ────────────────────────────────────────────────────────────────────────────────────────


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run all at the same moment; raises what the first that failed raised."""
    together = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        together.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [f.result() for f in [pool.submit(run, work) for work in works]]


def test_two_writers_of_the_same_documents_in_opposite_order_neither_deadlock_nor_double(own: str) -> None:
    with pgbraid.connect(own) as one, pgbraid.connect(own) as two:
        made_of(one)
        texts = sentences(9, 60, 40)
        for step in range(4):
            mine = [Document(f"d{i}", f"{t} mine{step}") for i, t in enumerate(texts)]
            theirs = [Document(f"d{i}", f"{t} theirs{step}") for i, t in reversed(list(enumerate(texts)))]
            reports = at_once([lambda m=mine: one.ingest("notes", m), lambda t=theirs: two.ingest("notes", t)])
            for report in reports:
                assert report.added + report.changed + report.unchanged == 60 and not report.rejected
        consistent(own, one)
        assert one.collection("notes").documents == 60


def test_eight_writers_and_deleters_leave_a_true_collection(own: str) -> None:
    braids = [pgbraid.connect(own) for _ in range(8)]
    made_of(braids[0])
    texts = sentences(11, 100, 30)

    def work(number: int) -> None:
        chance = random.Random(number)
        for _ in range(6):
            names = chance.sample(range(30), 10)
            if number % 4 == 3:
                braids[number].delete("notes", [f"d{n}" for n in names])
            else:
                braids[number].ingest("notes", [Document(f"d{n}", chance.choice(texts)) for n in names])

    at_once([lambda n=n: work(n) for n in range(8)])
    consistent(own, braids[0])
    braids[0].refresh_words("notes", exact=True)
    consistent(own, braids[0])
    for one in braids:
        one.close()


def test_documents_that_others_change_meanwhile_are_counted_right(braid: Braid, own: str) -> None:
    """Between looking and writing another writer takes the chunk away whose vector was to be kept."""
    second = pgbraid.connect(own)
    meanwhile: list[Callable[[], Any]] = []

    def embed(texts: Sequence[str]) -> Any:
        while meanwhile:
            meanwhile.pop()()
        return constant(texts)

    with_function(braid, "f", embed)
    from pgbraid.embed import from_callable

    second.register_embedder("f", from_callable(constant, 4, "f"))
    made_of(braid, embedder="f")
    parts = [f"part{i} " + "word " * 20 + "." for i in range(3)]
    braid.ingest("notes", [Document("one", "\n\n".join(parts)), Document("same", "as ever")])
    meanwhile.append(lambda: second.ingest("notes", [Document("one", "quite different")]))
    given = [Document("one", "\n\n".join([*parts, "new"])), Document("same", "as ever"), Document("empty", "")]
    report = braid.ingest("notes", given)
    assert (report.seen, report.changed, report.unchanged, len(report.rejected)) == (3, 1, 1, 1)
    consistent(own, braid)
    second.close()


KILLED = """
import sys, pgbraid
from pgbraid import Document
braid = pgbraid.connect(sys.argv[1])
def given():
    for i in range(100_000):
        if i == 40:
            print("going", flush=True)
        yield Document(f"d{i}", "\\n\\n".join(f"sentence {j} of {i} " + "word " * 15 for j in range(8)))
braid.ingest("notes", given(), batch_size=5)
"""


def test_a_writer_that_is_killed_leaves_only_whole_documents(braid: Braid, own: str) -> None:
    known = made_of(braid)
    writer = subprocess.Popen([sys.executable, "-c", KILLED, own], stdout=subprocess.PIPE)
    assert writer.stdout is not None and writer.stdout.readline() == b"going\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with psycopg.connect(own, autocommit=True) as connection:  # what it had open ends with it, sooner or later
        waiting = "SELECT count(*) FROM pg_locks WHERE relation = %s::regclass"
        while connection.execute(waiting, (f"pgbraid.{known.document_table}",)).fetchone() != (0,):
            pass
    found = braid.collection("notes")
    assert found.documents >= 30 and found.documents % 5 == 0
    consistent(own, braid)


def test_a_reader_sees_the_old_document_or_the_new_one_and_never_a_mix(own: str) -> None:
    with pgbraid.connect(own) as writer, pgbraid.connect(own) as reader:
        made_of(writer)
        versions = [
            "\n\n".join(f"version{v} sentence {j} " + "word " * (8 + 7 * v % 11) for j in range(2 + v % 3))
            for v in range(4)
        ]
        pieces: dict[str, int] = {}
        for text in versions:
            writer.ingest("notes", [Document("one", text)])
            pieces[text] = len((writer.document("notes", "one") or {})["chunks"])
        assert len(set(pieces.values())) > 1
        done = threading.Event()

        def write() -> None:
            for i in range(100):
                writer.ingest("notes", [Document("one", versions[i % 4])])
            done.set()

        def read() -> int:
            seen = 0
            while not done.is_set() or not seen:
                passage = reader.search("version0 version1 version2 sentence word", top_k=1).passages[0]
                assert len(passage.chunks) == pieces[passage.text]
                for chunk in passage.chunks:
                    assert passage.text[chunk.start : chunk.end] == chunk.text
                seen += 1
            return seen

        assert at_once([write, read])[1] > 0
        consistent(own, writer)


def test_a_document_changed_while_it_is_reranked_is_no_mix_either(braid: Braid, own: str) -> None:
    with pgbraid.connect(own) as other:
        made_of(braid)
        braid.ingest("notes", [Document("one", "old text with a needle"), Document("two", "another needle")])

        def score(question: str, texts: Sequence[str]) -> Sequence[float]:
            other.ingest("notes", [Document("one", "something else stands here now, and a needle")])
            return [float(len(texts) - i) for i in range(len(texts))]

        braid.register_reranker("slow", reranker_of(score, "slow"))
        for passage in braid.search("needle", rerank="slow").passages:
            for chunk in passage.chunks:
                assert passage.text[chunk.start : chunk.end] == chunk.text
