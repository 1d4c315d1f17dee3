"""The ladder of a lexical search: a rung may never miss a chunk that scores what the rung is good for."""

from __future__ import annotations

import re
from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgbraid import prune
from pgbraid.prune import Counts, Ladder, ladder

K1 = 1.2
WORDS = [f"w{n}" for n in range(14)]


def made(weights: dict[str, float], chunks: int = 100_000, holding: int = 5_000) -> Ladder | None:
    counts = Counts(chunks, dict.fromkeys(weights, holding))
    return ladder(weights, {word: f"'{word}'" for word in weights}, K1, counts)


def matches(query: str, held: Set[str]) -> bool:
    """What PostgreSQL says of a tsquery of `&`, `|` and parentheses, where `&` binds stronger."""
    text = re.sub(r"'(\w+)'", lambda m: str(m[1] in held), query)
    return bool(eval(text.replace("&", " and ").replace("|", " or ")))


weighed = st.dictionaries(st.sampled_from(WORDS), st.floats(1e-4, 30), min_size=2)


@given(weighed, st.data())
def test_a_chunk_is_on_every_rung_that_its_score_reaches(weights: dict[str, float], data: st.DataObject) -> None:
    rungs = made(weights)
    held = data.draw(st.dictionaries(st.sampled_from(sorted(weights)), st.floats(0, 1), min_size=1))
    score = sum(weights[word] * (K1 + 1) * part for word, part in held.items())
    for floor, query in zip(rungs.floors, rungs.queries, strict=True) if rungs else ():
        assert score < floor or matches(query, held.keys())


@given(weighed)
def test_a_chunk_that_holds_every_word_as_often_as_can_be_is_on_every_rung(weights: dict[str, float]) -> None:
    rungs = made(weights)
    assert rungs is None or all(matches(query, weights.keys()) for query in rungs.queries)


@given(weighed)
def test_floors_rise_from_zero_and_the_first_rung_is_any_of_the_words(weights: dict[str, float]) -> None:
    rungs = made(weights)
    if rungs is not None:
        assert rungs.floors[0] == 0 and list(rungs.floors) == sorted(rungs.floors)
        assert len(rungs.floors) == len(rungs.queries) >= rungs.start > 1
        assert all(matches(rungs.queries[0], {word}) for word in weights)


def test_a_rung_is_said_once_and_one_word_can_be_enough() -> None:
    rungs = made({"rare": 6.0, "common": 1.0})
    assert rungs is not None
    assert rungs.queries == ("'rare' | 'common'", "'rare'")
    assert rungs.start == 2


def test_where_too_few_are_expected_on_any_narrower_rung_every_match_is_scored() -> None:
    weights, lexemes = {"a": 6.0, "b": 3.0}, {"a": "'a'", "b": "'b'"}
    assert ladder(weights, lexemes, K1, Counts(100_000, {"a": 10, "b": 3_000})) is None
    assert ladder(weights, lexemes, K1, Counts(100_000, {"a": 900, "b": 3_000})) is not None


@pytest.mark.parametrize("holding", [0, 10, 600])
def test_a_question_with_few_matches_is_not_pruned(holding: int) -> None:
    assert made({"a": 3.0, "b": 2.0, "c": 1.0}, holding=holding) is None


def test_a_single_word_is_not_pruned() -> None:
    assert made({"a": 3.0}, holding=90_000) is None


def test_of_a_long_question_only_the_strongest_words_are_said() -> None:
    rungs = made({f"w{n}": 8.0 - n / 5 for n in range(40)})
    assert rungs is None or all(query.count("'w8'") == 0 for query in rungs.queries[1:])


def test_a_rung_stays_small_even_when_all_words_weigh_the_same() -> None:
    rungs = made({f"w{n}": 5.0 for n in range(prune.MOST_WORDS)}, chunks=10**7, holding=10**6)
    assert rungs is not None
    assert max(query.count("'") // 2 for query in rungs.queries) <= 2**prune.MOST_WORDS
