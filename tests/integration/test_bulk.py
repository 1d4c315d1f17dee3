"""Large loads: interrupted and resumed, the vector index built at the end, what is rejected handed out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from fix_braid import constant, counted, documents, made_of, recounted, rows, sentences, whole, with_function
from pgbraid import AsyncBraid, Braid, Collection, Document, Rejected, Settings
from pgbraid.errors import PgbraidError

GIVEN = [Document(f"d{i}", text) for i, text in enumerate(sentences(21, 90, 20))]


class Broken(Exception):
    """The source ends before its end."""


def broken_after(count: int) -> Iterator[Document]:
    yield from GIVEN[:count]
    raise Broken


def vector_index(dsn: str, collection: Collection) -> list[tuple[Any, ...]]:
    """Whether the index can be used; nothing when there is none."""
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    return rows(dsn, query, f"pgbraid.{collection.chunk_table}_embedding_hnsw")


# ── interrupted ────────────────────────────────────────────────────────────────────────────────────────────


def test_an_interrupted_load_goes_on_behind_what_was_written(braid: Braid, own: str) -> None:
    known = made_of(braid)
    with pytest.raises(Broken):
        braid.ingest("notes", broken_after(47), batch_size=10, checkpoint="load")
    assert braid.collection("notes").documents == 40
    report = braid.ingest("notes", GIVEN, batch_size=10, checkpoint="load")
    assert (report.resumed, report.seen, report.added, report.unchanged) == (40, 50, 50, 0)
    whole(own, known)
    assert counted(own, known) == recounted(own, known)
    assert rows(own, "SELECT count(*) FROM pgbraid.checkpoint") == [(0,)]


def test_a_load_that_came_to_its_end_is_read_from_the_beginning_again(braid: Braid) -> None:
    made_of(braid)
    braid.ingest("notes", GIVEN, checkpoint="load")
    braid.delete("notes", "d3")
    report = braid.ingest("notes", GIVEN, checkpoint="load")
    assert (report.resumed, report.added, report.unchanged) == (0, 1, 89)


def test_a_load_of_another_name_starts_at_the_beginning(braid: Braid) -> None:
    made_of(braid)
    with pytest.raises(Broken):
        braid.ingest("notes", broken_after(30), batch_size=10, checkpoint="one")
    assert braid.ingest("notes", GIVEN, batch_size=10, checkpoint="two").resumed == 0


def test_what_was_made_before_the_source_broke_is_written(braid: Braid) -> None:
    made_of(braid)
    with pytest.raises(Broken):
        braid.ingest("notes", broken_after(20), batch_size=20)
    assert braid.collection("notes").documents == 20


# ── the vector index ───────────────────────────────────────────────────────────────────────────────────────


def test_the_index_of_an_empty_collection_is_built_after_the_load(braid: Braid, own: str) -> None:
    known = made_of(braid)
    seen: list[Any] = []
    braid.ingest("notes", GIVEN, batch_size=10, progress=lambda _: seen.append(vector_index(own, known)))
    assert seen[0] == [] and vector_index(own, known) == [(True,)]


def test_the_index_of_a_collection_in_use_stays(braid: Braid, own: str) -> None:
    known = made_of(braid)
    braid.ingest("notes", documents({"first": "one text"}))
    seen: list[Any] = []
    braid.ingest("notes", GIVEN, batch_size=10, progress=lambda _: seen.append(vector_index(own, known)))
    assert set(map(tuple, seen)) == {((True,),)}


def test_a_load_that_fails_leaves_an_index(braid: Braid, own: str) -> None:
    def embed(texts: Any) -> Any:
        if any("bad" in text for text in texts):
            raise ValueError("no")
        return constant(texts)

    with_function(braid, "f", embed)
    known = made_of(braid, embedder="f")
    with pytest.raises(PgbraidError):
        braid.ingest("notes", [*GIVEN, *documents({f"b{i}": f"bad {i}" for i in range(10)})], batch_size=10)
    assert vector_index(own, known) == [(True,)]


def test_an_index_that_somebody_broke_off_is_built_anew_by_the_next_load(braid: Braid, own: str) -> None:
    known = made_of(braid)
    braid.ingest("notes", GIVEN)
    with psycopg.connect(own) as connection:
        index = f"pgbraid.{known.chunk_table}_embedding_hnsw"
        connection.execute(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index}'::regclass")
    braid.ingest("notes", documents({"more": "one more"}))
    assert vector_index(own, known) == [(True,)]


def test_in_the_applications_transaction_the_index_is_left_alone(braid: Braid, own: str) -> None:
    known = made_of(braid)
    with psycopg.connect(own) as connection:
        braid.using(connection).ingest("notes", GIVEN, batch_size=10)
        connection.rollback()
    assert vector_index(own, known) == [(True,)]
    assert braid.collection("notes").documents == 0


# ── beside each other ──────────────────────────────────────────────────────────────────────────────────────


async def _load(own: str) -> Any:
    async with AsyncBraid(Settings(dsn=own)) as braid:
        return await braid.ingest("notes", GIVEN, batch_size=7)


def test_an_async_load_writes_the_same(braid: Braid, own: str) -> None:
    import asyncio

    known = made_of(braid)
    report = asyncio.run(_load(own))
    assert report.added == 90
    whole(own, known)
    assert counted(own, known) == recounted(own, known)


def test_a_document_that_comes_again_in_the_next_batch_counts_as_it_came_last(braid: Braid, own: str) -> None:
    known = made_of(braid)
    again = [Document(f"d{i}", f"{i} other words") for i in range(10)]
    report = braid.ingest("notes", [*GIVEN[:10], *again, *GIVEN[:10]], batch_size=10)
    assert (report.seen, report.added, report.changed) == (30, 10, 20)
    shown = braid.document("notes", "d3")
    assert shown is not None and shown["text"] == GIVEN[3].text
    assert counted(own, known) == recounted(own, known)


# ── rejected, and rehearsed ────────────────────────────────────────────────────────────────────────────────


def test_a_rejected_document_is_handed_out_as_it_came(braid: Braid) -> None:
    made_of(braid)
    got: list[tuple[Rejected, Document | None]] = []
    empty = Document("empty", "   ", metadata={"n": 1})
    given = [*GIVEN[:5], empty, Rejected("line 3", "not JSON"), Document("", "no id")]
    report = braid.ingest("notes", given, on_rejected=lambda why, document: got.append((why, document)))
    assert [one for one, _ in got] == list(report.rejected)
    assert {one.external_id: document for one, document in got} == {
        "empty": empty,
        "line 3": None,
        "": Document("", "no id"),
    }


def test_a_rehearsal_counts_what_the_load_then_does_and_writes_nothing(braid: Braid, own: str) -> None:
    made_of(braid)
    braid.ingest("notes", GIVEN[:20])
    given = [Document("d0", "changed"), *GIVEN[1:40], Document("empty", "")]
    found = braid.rehearse("notes", given)
    assert braid.collection("notes").documents == 20
    report = braid.ingest("notes", given)
    assert (found.added, found.changed, found.unchanged) == (report.added, report.changed, report.unchanged)
    assert (found.rejected, found.to_embed) == (len(report.rejected), report.embedded)
    assert found.tokens > 0 and found.seconds > 0 and found.vector_bytes == found.chunks * (64 * 4 + 8)
