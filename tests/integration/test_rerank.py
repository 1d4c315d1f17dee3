"""What a profile says of reranking: what is read, how long it may take, and what a failure does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

import pytest

import pgbraid
from fix_braid import HANDBOOK, constant, documents, ids, made_of, with_function
from pgbraid import Braid, Document, SearchResult
from pgbraid.errors import ModelError, SettingsError
from pgbraid.rerank import from_callable

LONG = " ".join(f"Paragraph {i} speaks of topic{i} and of nothing else that matters here at all." for i in range(12))


class Read:
    """A reranker that remembers what it was given; longer texts score higher."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, question: str, texts: Sequence[str]) -> list[float]:
        self.texts += texts
        return [float(len(text)) for text in texts]


def _asked(
    braid: Braid, name: str, function: Callable[..., object], question: str = "topic5", **options: object
) -> SearchResult:
    braid.register_reranker(name, from_callable(function, name))  # type: ignore[arg-type]
    return braid.search(question, collections="notes", rerank=name, **options)


@pytest.fixture
def notes(braid: Braid) -> Braid:
    """One document of many chunks, and short ones."""
    made_of(braid)
    braid.ingest("notes", [Document("long", LONG, title="Topics"), *documents(HANDBOOK)])
    return braid


def test_by_default_the_best_chunk_is_read_with_its_context(notes: Braid) -> None:
    read = Read()
    best = _asked(notes, "best", read, top_k=1, rerank_top_k=1, dense_weight=0).passages[0]
    assert read.texts == [f"Topics\n{best.chunks[0].text}"] and "topic5" in read.texts[0]
    assert best.chunks[0].rerank_score == best.rerank_score and best.rerank_probability is None


def test_every_chunk_that_matched_is_read_and_each_has_its_score(notes: Braid) -> None:
    read = Read()
    found = _asked(
        notes, "every", read, "topic5 topic7", top_k=1, rerank_top_k=1, rerank_reads="chunks", dense_weight=0
    ).passages[0]
    assert len(read.texts) == len(found.chunks) > 1
    assert [chunk.rerank_score for chunk in found.chunks] == [float(len(f"Topics\n{c.text}")) for c in found.chunks]
    assert found.rerank_score == max(chunk.rerank_score or 0 for chunk in found.chunks)
    mean = _asked(
        notes,
        "mean",
        read,
        "topic5 topic7",
        top_k=1,
        rerank_top_k=1,
        rerank_reads="chunks",
        rerank_top_m=2,
        dense_weight=0,
    )
    best_two = sorted((chunk.rerank_score or 0 for chunk in found.chunks), reverse=True)[:2]
    assert mean.passages[0].rerank_score == sum(best_two) / 2


def test_the_neighbours_of_the_best_chunk_are_read_from_the_documents_own_text(notes: Braid) -> None:
    read = Read()
    result = _asked(notes, "near", read, top_k=1, rerank_top_k=1, rerank_reads="neighbours", dense_weight=0)
    text, best = read.texts[0].removeprefix("Topics\n"), result.passages[0].chunks[0]
    assert text in LONG and best.text in text and len(text) > 2 * len(best.text)
    assert result.trace.round_trips == 2 and result.passages[0].text == LONG


def test_the_whole_document_is_read_when_it_may_be_cut(notes: Braid) -> None:
    read = Read()
    result = _asked(notes, "whole", read, rerank_reads="document", rerank_overflow="window")
    assert f"Topics\n{LONG}" in read.texts and ids(result)[0] == "long"
    with pytest.raises(SettingsError, match="choose window or truncate"):
        notes.search("topic5", rerank="whole", rerank_reads="document")


def test_the_same_question_again_computes_nothing(notes: Braid) -> None:
    read = Read()
    first = _asked(notes, "kept", read)
    many = len(read.texts)
    again = notes.search("topic5", collections="notes", rerank="kept")
    assert len(read.texts) == many and again.passages == first.passages
    counts = again.trace.counts
    assert (counts["rerank texts computed"], counts["rerank texts known"]) == (0, many)


def test_no_score_is_kept_where_the_operator_wants_none(own: str) -> None:
    with pgbraid.connect(own, rerank_cache=0) as braid:
        made_of(braid)
        braid.ingest("notes", documents(HANDBOOK))
        read = Read()
        _asked(braid, "none", read, "leave")
        many = len(read.texts)
        braid.search("leave", collections="notes", rerank="none")
        assert len(read.texts) == 2 * many


def test_what_time_does_not_allow_keeps_the_fused_order_and_the_result_says_so(notes: Braid) -> None:
    notes.ingest("notes", [Document(f"n{i}", f"a note about topic5, number {i}") for i in range(24)])

    def slow(question: str, texts: Sequence[str]) -> list[float]:
        time.sleep(0.03 * len(texts))
        return [float(len(text)) for text in texts]

    plain = notes.search("topic5", collections="notes", top_k=24)
    result = _asked(notes, "slow", slow, top_k=24, rerank_top_k=24, rerank_budget_ms=300)
    scored = [p for p in result.passages if p.rerank_score is not None]
    assert 0 < len(scored) < 24 and result.degraded and "not reached in 300 ms" in result.failures[0].reason
    assert {p.external_id for p in scored} == set(ids(plain)[: len(scored)])
    assert ids(result)[len(scored) :] == ids(plain)[len(scored) :]


def test_a_score_that_is_no_number_puts_its_document_behind_the_others(notes: Braid) -> None:
    def odd(question: str, texts: Sequence[str]) -> list[float]:
        return [float("nan") if "sick" in text else float(len(text)) for text in texts]

    result = _asked(notes, "odd", odd, "leave sick overtime travel", top_k=5)
    assert ids(result)[-1] == "sick" and result.passages[-1].rerank_score is None
    assert result.degraded and "1 texts have no score: the score is nan" in result.failures[0].reason


def test_a_failing_reranker_fails_the_search_where_the_profile_says_so(notes: Braid) -> None:
    def failing(question: str, texts: Sequence[str]) -> list[float]:
        raise RuntimeError("the model is gone")

    with pytest.raises(ModelError, match="the model is gone"):
        _asked(notes, "fails", failing, rerank_on_failure="fail")
    assert _asked(notes, "fails", failing).degraded


def test_a_blend_of_the_callers_replaces_the_rerankers(notes: Braid) -> None:
    def backwards(question: str, texts: Sequence[str]) -> list[float]:
        return [-float(i == 0) for i in range(len(texts))]

    plain = ids(notes.search("approval manager leave", collections="notes"))
    assert ids(_asked(notes, "back", backwards, "approval manager leave", rerank_blend=0)) == plain
    assert ids(_asked(notes, "back", backwards, "approval manager leave", rerank_blend=1)) != plain


@pytest.mark.parametrize(
    "wrong",
    [
        {"rerank_reads": "sentence"},
        {"rerank_overflow": "cut"},
        {"rerank_on_failure": "ignore"},
        {"rerank_top_m": 0},
        {"rerank_budget_ms": 0},
        {"rerank_budget_ms": 1.5},
        {"rerank_blend": 1.01},
        {"rerank_strict": "yes"},
        {"rerank_top_k": 101},
    ],
)
def test_a_setting_that_cannot_work_is_refused(notes: Braid, wrong: dict[str, object]) -> None:
    notes.register_reranker("any", from_callable(Read(), "any"))
    with pytest.raises(SettingsError):
        notes.search("topic5", rerank="any", **wrong)


def test_the_sigmoid_stands_beside_a_logit(notes: Braid) -> None:
    class Logits:
        identity, blend, gives_logits = "logits", 1.0, True

        def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            return [0.0, 2.0, -1000.0, *[1.0] * len(texts)][: len(texts)]

    notes.register_reranker("logits", Logits())
    found = notes.search("leave approval manager", collections="notes", rerank="logits", rerank_top_k=3).passages
    chances = {p.rerank_score: p.rerank_probability for p in found}
    assert chances[0.0] == 0.5 and chances[2.0] == pytest.approx(0.880797) and chances[-1000.0] == 0.0


def test_waiting_for_the_models_thread_counts_as_time_for_reranking(own: str) -> None:
    """Two searches at once: the second gets the thread when its time is over, and keeps the fused order."""
    waiting = threading.Event()

    def slow(question: str, texts: Sequence[str]) -> list[float]:
        waiting.set()
        time.sleep(0.5)
        return [1.0 for _ in texts]

    async def go() -> None:
        async with pgbraid.connect_async(own) as braid:
            braid.register_reranker("slow", from_callable(slow, "slow"))
            braid.register_reranker("quick", from_callable(lambda question, texts: [1.0 for _ in texts], "quick"))
            named = {"collections": "notes", "dense_weight": 0}
            first = asyncio.create_task(braid.search("note", rerank="slow", **named))
            await asyncio.to_thread(waiting.wait)
            late = await braid.search("note", rerank="quick", rerank_budget_ms=50, **named)
            assert late.degraded and "not reached in 50 ms" in late.failures[0].reason
            assert not (await first).degraded

    with pgbraid.connect(own) as braid:
        made_of(braid)
        braid.ingest("notes", [Document(f"n{i}", f"note {i}") for i in range(5)])
    asyncio.run(go())


def test_a_text_that_was_cut_is_told_with_its_tokens(notes: Braid) -> None:
    class Rows:
        """Reads 8 characters, each a token."""

        identity, blend, longest = "short", 1.0, 8

        def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            raise AssertionError

        def pairs(self, question: str, texts: Sequence[str], overflow: str) -> list[object]:
            from pgbraid.embed.tokens import Pair, Row

            return [Pair(len(text), (Row([1], [0], [0], len(text) > 8),)) for text in texts]

        def batches(self, lengths: Sequence[int]) -> list[list[int]]:
            return [list(range(len(lengths)))]

        def logits(self, rows: Sequence[object]) -> list[float]:
            return [1.0 for _ in rows]

    notes.register_reranker("short", Rows())
    for _ in range(2):  # computed, then known
        result = notes.search("leave", collections="notes", rerank="short", rerank_overflow="truncate")
        assert result.trace.counts["rerank texts over budget"] == result.trace.counts["reranked"] > 0
        assert "were too long for the reranker and were cut, the longest of" in result.trace.notes[-1]


def test_a_cancelled_search_lets_go_of_the_model_thread(own: str) -> None:
    started, ran = threading.Event(), []

    class Rows:
        """Reads a text a batch, and each takes a while."""

        identity, blend, longest = "rows", 1.0, 100

        def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            raise AssertionError

        def pairs(self, question: str, texts: Sequence[str], overflow: str) -> list[object]:
            from pgbraid.embed.tokens import Pair, Row

            return [Pair(1, (Row([1], [0], [0], False),)) for _ in texts]

        def batches(self, lengths: Sequence[int]) -> list[list[int]]:
            return [[i] for i in range(len(lengths))]

        def logits(self, rows: Sequence[object]) -> list[float]:
            ran.append(1)
            started.set()
            time.sleep(0.05)
            return [1.0]

    async def go() -> None:
        async with pgbraid.connect_async(own) as braid:
            with_rows = Rows()
            braid.register_reranker("rows", with_rows)
            asked = asyncio.create_task(braid.search("note", collections="notes", rerank="rows"))
            await asyncio.to_thread(started.wait)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert (await braid.search("note", collections="notes", top_k=1)).status == "found"

    with pgbraid.connect(own) as braid:
        with_function(braid, "f", constant)
        made_of(braid)
        braid.ingest("notes", [Document(f"n{i}", f"note {i}") for i in range(30)])
    asyncio.run(go())
    assert 0 < len(ran) < 10
