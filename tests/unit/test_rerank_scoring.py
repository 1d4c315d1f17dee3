"""Scoring candidates: each text once, what is known not again, no longer than there is time, and one alone may fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pgbraid.embed.tokens import Pair, Row
from pgbraid.errors import ModelError, SearchError
from pgbraid.rerank import ScoreCache, Wanted, score
from pgbraid.values import Overflow


@dataclass
class Lengths:
    """Any reranker: a text's score is its length."""

    identity: str = "lengths"
    blend: float = 1.0
    asked: list[list[str]] = field(default_factory=list)
    given: Any = None

    def score(self, question: str, texts: Sequence[str]) -> Any:
        self.asked.append(list(texts))
        return [float(len(text)) for text in texts] if self.given is None else self.given


@dataclass
class Letters:
    """A model that tells its rows: letters are tokens, 4 fit a row, a row's score is its greatest letter's number."""

    identity: str = "letters"
    blend: float = 1.0
    longest: int = 4
    seconds: float = 0.0
    ran: list[list[str]] = field(default_factory=list)
    stop: threading.Event | None = None

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        raise AssertionError("its rows are asked for")

    def pairs(self, question: str, texts: Sequence[str], overflow: Overflow) -> list[Pair]:
        return [Pair(len(text), tuple(map(_row, self._pieces(text, overflow)))) for text in texts]

    def _pieces(self, text: str, overflow: Overflow) -> list[str]:
        if len(text) <= 4 or overflow == "truncate":
            return [text[:4]]
        return [text[at : at + 4] for at in range(0, len(text), 4)] if overflow == "window" else []

    def batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        return (order[at : at + 2] for at in range(0, len(order), 2))

    def logits(self, rows: Sequence[Row]) -> list[float]:
        self.ran.append(["".join(map(chr, row.ids)) for row in rows])
        time.sleep(self.seconds)
        if self.stop is not None:
            self.stop.set()
        return [float(max(row.ids)) for row in rows]


def _row(text: str) -> Row:
    return Row([ord(c) for c in text], [0] * len(text), [0] * len(text), False)


def _scores(reranker: Any, candidates: Sequence[Sequence[str]], cache: ScoreCache | None = None, **wanted: Any) -> Any:
    return score(reranker, "question", candidates, Wanted(**wanted), ScoreCache(100) if cache is None else cache)


def test_equal_texts_are_asked_once_and_every_candidate_gets_its_score() -> None:
    reranker = Lengths()
    found = _scores(reranker, [["aa"], ["b"], ["aa"]])
    assert found.scores == (2.0, 1.0, 2.0) and reranker.asked == [["aa", "b"]]
    assert (found.computed, found.cached, found.late, found.refused) == (2, 0, 0, {})


def test_what_was_scored_before_is_not_scored_again() -> None:
    reranker, cache = Lengths(), ScoreCache(100)
    _scores(reranker, [["aa"], ["b"]], cache)
    found = _scores(reranker, [["b"], ["ccc"]], cache)
    assert found.scores == (1.0, 3.0) and reranker.asked == [["aa", "b"], ["ccc"]]
    assert (found.computed, found.cached) == (1, 1)
    assert _scores(reranker, [["aa"], ["ccc"]], cache).computed == 0 and len(reranker.asked) == 2


def test_another_question_reranker_or_overflow_is_another_score() -> None:
    cache = ScoreCache(100)
    _scores(Letters(), [["abcdef"]], cache, overflow="truncate")
    assert _scores(Letters(), [["abcdef"]], cache, overflow="window").scores == (float(ord("f")),)
    assert _scores(Letters(identity="other"), [["abcdef"]], cache, overflow="truncate").computed == 1
    assert score(Letters(), "other", [["abcdef"]], Wanted("truncate"), cache).computed == 1
    assert score(Letters(), "question", [["abcdef"]], Wanted("truncate"), cache).computed == 0


def test_the_cache_lets_go_of_what_was_asked_longest_ago() -> None:
    reranker, cache = Lengths(), ScoreCache(2)
    for text in ("a", "bb", "a", "ccc", "a", "bb"):
        _scores(reranker, [[text]], cache)
    assert reranker.asked == [["a"], ["bb"], ["ccc"], ["bb"]] and len(cache) == 2


def test_a_cache_of_no_size_keeps_nothing() -> None:
    reranker, cache = Lengths(), ScoreCache(0)
    assert [_scores(reranker, [["a"]], cache).computed for _ in range(2)] == [1, 1]


def test_a_text_that_is_too_long_fails_alone_and_tells_its_tokens() -> None:
    found = _scores(Letters(), [["abcdef"], ["ab"], ["x"]])
    assert found.scores == (None, 98.0, 120.0)
    assert found.refused == {"abcdef": "question and text have 6 tokens, the model reads 4"}


def test_strict_makes_one_that_is_too_long_an_error() -> None:
    with pytest.raises(SearchError, match=r"1 texts cannot be reranked, .* 6 tokens, the model reads 4"):
        _scores(Letters(), [["abcdef"], ["ab"]], strict=True)


def test_what_was_cut_or_windowed_is_told_with_its_tokens_from_the_cache_too() -> None:
    for overflow in ("truncate", "window"):
        cache = ScoreCache(10)
        assert _scores(Letters(), [["abcdef"], ["ab"]], cache, overflow=overflow).over == {"abcdef": 6}
        again = _scores(Letters(), [["abcdef"], ["ab"]], cache, overflow=overflow)
        assert (again.over, again.computed) == ({"abcdef": 6}, 0)
    assert _scores(Letters(), [["abcdef"], ["ab"]]).over == {}


def test_a_refused_text_is_not_kept_as_if_it_had_a_score() -> None:
    cache = ScoreCache(10)
    _scores(Letters(), [["abcdef"]], cache)
    assert len(cache) == 0 and _scores(Letters(), [["abcdef"]], cache).refused


def test_the_best_window_of_a_text_counts_or_the_mean_of_the_best() -> None:
    assert _scores(Letters(), [["aaaabbbbcccc"]], overflow="window").scores == (99.0,)
    assert _scores(Letters(), [["aaaabbbbcccc"]], overflow="window", top_m=2).scores == (98.5,)
    assert _scores(Letters(), [["aaaabbbbcccc"]], overflow="window", top_m=9).scores == (98.0,)


def test_a_candidate_with_several_texts_has_the_best_or_the_mean_of_the_best() -> None:
    assert _scores(Lengths(), [["a", "bbb", "cc"], ["dd"]]).scores == (3.0, 2.0)
    assert _scores(Lengths(), [["a", "bbb", "cc"], ["dd"]], top_m=2).scores == (2.5, 2.0)
    assert _scores(Letters(), [["abcdef", "b"]]).scores == (98.0,)  # one text too long, the other counts


def test_rows_are_run_with_rows_of_like_length_whatever_text_they_are_of() -> None:
    model = Letters()
    _scores(model, [["a"], ["abcdefg"], ["bc"], ["d"]], overflow="window")
    assert [sorted(map(len, batch)) for batch in model.ran] == [[3, 4], [1, 2], [1]]


def test_a_score_that_is_no_number_fails_alone() -> None:
    found = _scores(Lengths(given=[1.0, float("nan"), float("inf")]), [["a"], ["b"], ["c"]])
    assert found.scores == (1.0, None, None) and found.refused == {"b": "the score is nan", "c": "the score is inf"}


@pytest.mark.parametrize("given", [[1.0], [1.0, 2.0, 3.0], 5, None, ["high", 1], "12"])
def test_something_else_than_a_score_for_each_text_is_an_error(given: Any) -> None:
    reranker = Lengths(given=given if given is not None else [None, None])
    with pytest.raises(ModelError):
        _scores(reranker, [["a"], ["b"]] if given != "12" else [["a"], ["b"], ["c"]])


def test_when_time_is_short_the_best_are_scored_first_and_the_rest_is_counted() -> None:
    model = Letters(seconds=0.02)
    texts = [[chr(97 + i)] for i in range(24)]
    found = _scores(model, texts, deadline=time.monotonic() + 0.13)
    scored = sum(one is not None for one in found.scores)
    assert 0 < scored < 24 and found.late == 24 - scored
    assert {i for i, one in enumerate(found.scores) if one is not None} <= set(range((scored + 7) // 8 * 8))


def test_without_any_time_nothing_is_scored_but_what_is_known() -> None:
    cache = ScoreCache(10)
    _scores(Lengths(), [["aa"]], cache)
    found = _scores(Lengths(), [["aa"], ["b"]], cache, deadline=time.monotonic() - 1)
    assert found.scores == (2.0, None) and found.late == 1


def test_a_caller_that_went_away_stops_the_work_at_the_next_batch() -> None:
    stop = threading.Event()
    model = Letters(stop=stop)
    found = _scores(model, [[chr(97 + i)] for i in range(20)], stop=stop)
    assert len(model.ran) == 1 and found.late == 18


def test_nothing_is_asked_for_no_candidates() -> None:
    reranker = Lengths()
    assert _scores(reranker, []).scores == () and _scores(reranker, [[]]).scores == (None,)
    assert reranker.asked == []
