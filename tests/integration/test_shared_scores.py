"""Rerank scores in a table: what one process computed, another does not compute again; the table may fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import psycopg
import pytest

import pgbraid
from fix_braid import HANDBOOK, documents, made_of
from pgbraid import Braid, SearchResult
from pgbraid.errors import SettingsError
from pgbraid.rerank import from_callable


class Counting:
    """A reranker that remembers how many texts it read; longer ones score higher."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self, question: str, texts: Sequence[str]) -> list[float]:
        self.read += len(texts)
        return [len(text) / 3 for text in texts]


def _asked(braid: Braid, reranker: Counting, question: str = "approval") -> SearchResult:
    braid.register_reranker("counting", from_callable(reranker, "counting", max_chars=60))
    return braid.search(question, collections="notes", rerank="counting", rerank_overflow="window")


@pytest.fixture
def notes(braid: Braid, own: str) -> str:
    made_of(braid)
    braid.ingest("notes", documents(HANDBOOK))
    return own


@pytest.fixture
def processes(notes: str) -> Iterator[list[Braid]]:
    """Two braids that share nothing but the database."""
    made = [pgbraid.connect(notes, rerank_cache_table=True) for _ in range(2)]
    yield made
    for braid in made:
        braid.close()


def test_what_one_process_computed_another_does_not_compute_again(processes: list[Braid]) -> None:
    first, second = Counting(), Counting()
    one, two = _asked(processes[0], first), _asked(processes[1], second)
    assert first.read > 0 and second.read == 0
    assert [p.rerank_score for p in one.passages] == [p.rerank_score for p in two.passages]
    assert two.trace.counts["rerank texts known"] == one.trace.counts["rerank texts computed"]
    assert two.trace.counts["rerank texts over budget"] == one.trace.counts["rerank texts over budget"] > 0


def test_neither_question_nor_text_can_be_read_from_the_table(processes: list[Braid], notes: str) -> None:
    _asked(processes[0], Counting(), "who gives approval")
    with psycopg.connect(notes) as connection:
        kept = connection.execute("SELECT key, r::text FROM pgbraid.rerank_score AS r").fetchall()
    assert kept and all(len(key) == 16 and "approval" not in text for key, text in kept)


def test_without_the_setting_nothing_is_kept_or_read(processes: list[Braid], notes: str) -> None:
    with pgbraid.connect(notes) as plain:
        _asked(plain, Counting())
        with psycopg.connect(notes) as connection:
            assert connection.execute("SELECT count(*) FROM pgbraid.rerank_score").fetchone() == (0,)
        _asked(processes[0], Counting())
        other = Counting()
        assert _asked(plain, other, "approval of flights").passages and other.read > 0


def test_a_table_that_cannot_be_used_is_noted_and_the_search_answers(processes: list[Braid], notes: str) -> None:
    with psycopg.connect(notes) as connection:
        connection.execute("DROP TABLE pgbraid.rerank_score")
    reranker = Counting()
    result = _asked(processes[0], reranker)
    assert reranker.read > 0 and result.passages[0].rerank_score is not None and not result.degraded
    assert sum("rerank scores" in note and "rerank_score" in note for note in result.trace.notes) == 2


def test_a_transaction_of_the_callers_is_left_alone(processes: list[Braid], notes: str) -> None:
    with psycopg.connect(notes) as connection:
        reranker = Counting()
        assert _asked(processes[0].using(connection), reranker).passages and reranker.read > 0
        assert connection.execute("SELECT count(*) FROM pgbraid.rerank_score").fetchone() == (0,)


def test_maintenance_forgets_old_scores_and_those_that_are_too_many(
    braid: Braid, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(own) as connection:
        for days in (40, 3, 2, 1):
            connection.execute(
                "INSERT INTO pgbraid.rerank_score (key, scores, kept_at) "
                "VALUES (sha256(%s::text::bytea), '{1.5}', now() - make_interval(days => %s))",
                (days, days),
            )
    assert braid.maintain().scores == 1
    monkeypatch.setattr("pgbraid._sync.maintain.SCORES", 2)
    assert braid.maintain().scores == 1
    with psycopg.connect(own) as connection:
        kept = connection.execute("SELECT extract(day FROM now() - kept_at)::int FROM pgbraid.rerank_score").fetchall()
    assert sorted(kept) == [(1,), (2,)]


def test_the_table_needs_room_in_memory(own: str) -> None:
    with pytest.raises(SettingsError, match="set rerank_cache above 0"):
        pgbraid.connect(own, rerank_cache=0, rerank_cache_table=True)
