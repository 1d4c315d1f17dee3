"""Async is async: the same answers, one pool for all tasks, a loop that goes on, and nothing left by who gave up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

import pgbraid
from fix_braid import CONTRACTS, HANDBOOK, RUNBOOK, constant, documents, found, ids, made_of
from fix_waits import blocked, busy, connected, until_async
from pgbraid import AsyncBraid, Braid, CollectionSpec, Document, EmbedderRecord
from pgbraid.embed import from_callable
from pgbraid.errors import ConnectionLost, NoSuchCollection
from pgbraid.rerank import from_callable as reranker_of

QUESTION = "annual leave days"
BEATS = 50  # turns that a loop which is not held up takes in no time


@pytest.fixture
def filled(braid: Braid, own: str) -> str:
    """The DSN of a database of this test's own with the collection `notes`."""
    made_of(braid)
    braid.ingest("notes", documents(HANDBOOK))
    braid.close()
    return own


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a test's coroutine; one that hangs fails."""
    return asyncio.run(asyncio.wait_for(work, 120))


@asynccontextmanager
async def held(dsn: str) -> AsyncIterator[None]:
    """Nobody can look anything up while this lasts."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute("LOCK TABLE pgbraid.profile IN ACCESS EXCLUSIVE MODE")
        yield


def test_everything_that_the_sync_side_does_is_done_by_the_async_side(own: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(own) as braid:
            await braid.add_embedder(EmbedderRecord("other", "hashing", "hashing", 32))
            assert {e.name for e in await braid.embedders()} == {"h", "other"}
            for name, texts in (("hr", HANDBOOK), ("tech", RUNBOOK), ("legal", CONTRACTS)):
                await braid.create_collection(CollectionSpec(name, "h"))
                report = await braid.ingest(name, documents(texts))
                assert report.added == len(texts) and not report.notes
            await braid.apply(
                {"routes": {"c": {"collections": ["legal"], "match": {"any": ["合同"]}}}, "default": "all"}
            )
            assert (await braid.route("合同审批")).chosen == ("legal",)
            assert [c.name for c in await braid.collections()] == ["hr", "legal", "tech"]
            assert ids(await braid.search("合同 归档", top_k=9)) == ["approval", "archive", "nda"]
            braid.register_reranker("longest", reranker_of(lambda _, texts: [float(len(t)) for t in texts], "longest"))
            assert (await braid.search("approval", rerank="longest")).passages[0].rerank_score is not None
            assert (await braid.document("hr", "leave") or {})["text"] == HANDBOOK["leave"]
            assert await braid.delete("hr", ["leave", "nothing"]) == ("leave",)
            assert (await braid.refresh_words("hr", exact=True)).done
            assert "SELECT" in await braid.statement("approval")
            assert (await braid.alter_collection("hr", new_name="people")).name == "people"
            await braid.drop_collection("people")
            with pytest.raises(NoSuchCollection):
                await braid.collection("people")

    run(work())


def test_both_sides_give_the_same_answer(library_dsn: str) -> None:
    questions = ["annual leave", "approval", "合同审批", "backup of the database"]

    async def work() -> list[Any]:
        async with pgbraid.connect_async(library_dsn) as braid:
            return await asyncio.gather(*(braid.search(q, top_k=9) for q in questions))

    with pgbraid.connect(library_dsn) as braid:
        for mine, theirs in zip(run(work()), (braid.search(q, top_k=9) for q in questions), strict=True):
            assert found(mine) == found(theirs) and mine.passages == theirs.passages


def test_twenty_searches_at_once_share_the_pool(filled: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled, pool_max=3) as braid:
            await braid.collections()  # the connection that only greets is gone then
            async with held(filled):
                tasks = [asyncio.create_task(braid.search(QUESTION, top_k=1)) for _ in range(20)]
                await until_async(lambda: len(blocked(filled)) == 3 and len(connected(filled)) == 4)
                await beats(BEATS)
                assert len(connected(filled)) == 4  # one holds them up
            assert [ids(result) for result in await asyncio.gather(*tasks)] == [["leave"]] * 20
            assert len(connected(filled)) <= 3 and not busy(filled)

    run(work())


def test_one_pool_is_opened_when_many_ask_first(filled: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled, pool_max=2) as braid:
            pools = await asyncio.gather(*(braid._database._opened() for _ in range(20)))
            assert len({id(pool) for pool in pools}) == 1

    run(work())


# ── giving up ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_cancelled_search_leaves_no_query_and_gives_its_connection_back(filled: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled, pool_max=1) as braid:
            await braid.collections()
            async with held(filled):
                for _ in range(3):  # with one connection, each needs what the one before gave back
                    task = asyncio.create_task(braid.search(QUESTION))
                    await until_async(lambda: blocked(filled))
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                    await until_async(lambda: not blocked(filled))
            await until_async(lambda: not busy(filled))
            assert ids(await braid.search(QUESTION, top_k=1)) == ["leave"]

    run(work())


def test_a_search_that_runs_out_of_time_is_cancelled_like_that(filled: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled, pool_max=1) as braid:
            await braid.collections()
            async with held(filled):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(braid.search(QUESTION), 0.2)
                assert not blocked(filled)
            assert ids(await braid.search(QUESTION, top_k=1)) == ["leave"]

    run(work())


def test_one_that_waits_for_a_connection_can_be_cancelled(filled: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled, pool_max=1) as braid:
            async with braid._database.link():
                task = asyncio.create_task(braid.search(QUESTION))
                await beats(BEATS)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert ids(await braid.search(QUESTION, top_k=1)) == ["leave"]

    run(work())


def test_a_cancelled_ingest_has_written_whole_batches_only(filled: str) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled, pool_max=1) as braid:
            known = await braid.collection("notes")
            async with await psycopg.AsyncConnection.connect(filled) as other:
                await other.execute(f"LOCK TABLE pgbraid.{known.chunk_table} IN EXCLUSIVE MODE".encode())
                loading = braid.ingest("notes", [Document(f"d{i}", f"text {i}") for i in range(9)])
                task = asyncio.create_task(loading)
                await until_async(lambda: blocked(filled))
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await until_async(lambda: not blocked(filled))
            assert (await braid.collection("notes")).documents == len(HANDBOOK)
            assert await braid.document("notes", "d3") is None
            assert (await braid.ingest("notes", [Document("d3", "text 3")])).added == 1

    run(work())


# ── the loop goes on ───────────────────────────────────────────────────────────────────────────────────────


async def beats(count: int) -> None:
    """Let the loop turn so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


@asynccontextmanager
async def only_while_the_loop_turns() -> AsyncIterator[Callable[[], None]]:
    """A function that comes back when the loop has turned since it was called: never, if it holds up the loop."""
    asked, turned = threading.Event(), threading.Event()

    async def heart() -> None:
        while True:
            if asked.is_set():
                await beats(BEATS)
                turned.set()
            await asyncio.sleep(0)

    def wait() -> None:
        asked.set()
        if not turned.wait(30):
            raise TimeoutError("the event loop stood still")

    beating = asyncio.create_task(heart())
    yield wait
    beating.cancel()


async def with_slow_models(braid: AsyncBraid, turning: Callable[[], None]) -> None:
    """The embedder, the reranker and the collection `slow`; all that comes from now on waits for the loop."""
    started = threading.Event()

    def embed(texts: Sequence[str]) -> Any:
        if started.is_set():
            turning()
        return constant(texts)

    def score(_: str, texts: Sequence[str]) -> list[float]:
        turning()
        return [1.0] * len(texts)

    braid.register_embedder("slow", from_callable(embed, 4, "slow"))
    braid.register_reranker("slow", reranker_of(score, "slow"))
    await braid.add_embedder(EmbedderRecord("slow", "callable", "slow", 4))
    await braid.create_collection(CollectionSpec("slow", "slow"))
    await braid.ingest("slow", [Document("x", "leave")])
    started.set()


async def searching(braid: AsyncBraid, _: Callable[[], None]) -> None:
    result = await braid.search("leave", collections="slow")
    assert ids(result) == ["x"] and not result.degraded


async def reranking(braid: AsyncBraid, _: Callable[[], None]) -> None:
    result = await braid.search("leave", collections="notes", rerank="slow")
    assert not result.degraded and result.passages[0].rerank_score is not None


async def loading(braid: AsyncBraid, _: Callable[[], None]) -> None:
    assert (await braid.ingest("slow", [Document("y", "a text")])).added == 1


async def reading(braid: AsyncBraid, turning: Callable[[], None]) -> None:
    def read() -> Iterator[Document]:
        turning()
        yield Document("y", "a text that was slow to read")

    assert (await braid.ingest("notes", read())).added == 1


@pytest.mark.parametrize("act", [searching, reranking, loading, reading], ids=lambda f: f.__name__)
def test_slow_work_does_not_hold_up_the_loop(filled: str, act: Callable[..., Coroutine[Any, Any, None]]) -> None:
    async def work() -> None:
        async with pgbraid.connect_async(filled) as braid, only_while_the_loop_turns() as turning:
            await with_slow_models(braid, turning)
            await act(braid, turning)

    run(work())


def test_searches_go_on_while_another_waits_for_its_model(filled: str) -> None:
    """One task waits for a model; tasks that need none are answered meanwhile, by the same pool of one."""

    async def work() -> None:
        answered = threading.Event()

        def embed(texts: Sequence[str]) -> Any:
            if "wait" in texts[0] and not answered.wait(30):
                raise TimeoutError("nobody else was answered")
            return constant(texts)

        async with pgbraid.connect_async(filled, pool_max=1) as braid:
            braid.register_embedder("slow", from_callable(embed, 4, "slow"))
            await braid.add_embedder(EmbedderRecord("slow", "callable", "slow", 4))
            await braid.create_collection(CollectionSpec("slow", "slow"))
            await braid.ingest("slow", [Document("x", "leave")])
            waiting = asyncio.create_task(braid.search("wait for leave", collections="slow"))
            await beats(BEATS)
            found = await braid.search(QUESTION, collections="notes", dense_weight=0, top_k=1)
            assert ids(found) == ["leave"] and not waiting.done()
            answered.set()
            assert ids(await waiting) == ["x"]

    run(work())


def test_a_braid_serves_one_loop_after_another(filled: str) -> None:
    braid = pgbraid.connect_async(filled)

    async def work() -> None:
        results = await asyncio.gather(*(braid.search(QUESTION, top_k=1) for _ in range(6)))
        assert [ids(result) for result in results] == [["leave"]] * 6

    for _ in range(3):
        run(work())


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    async def work() -> None:
        async with pgbraid.connect_async("postgresql://127.0.0.1:1/nowhere", connect_timeout=3600) as braid:
            with pytest.raises(ConnectionLost, match="Check that the server runs"):
                await braid.search(QUESTION)

    run(work())
