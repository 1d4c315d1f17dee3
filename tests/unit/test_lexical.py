"""The question's half of BM25: idf by hand, shared within one analysis, and words that PostgreSQL reads back."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgbraid.lexical import MAX_WORDS, QuestionWord, idf, weigh
from pgbraid.values import Chunking, Collection, EmbedderRecord, VectorIndex

RECORD = EmbedderRecord("words", "hashing", "words", 8, id=1)


def collection(number: int, chunks: int, text_config: str = "simple") -> Collection:
    name = f"c{number}"
    return Collection(
        number, name, "", "simple", text_config, RECORD, Chunking(), VectorIndex(), 1.2, 0.75,
        f"document_{number}", f"chunk_{number}", documents=chunks, chunks=chunks,
    )  # fmt: skip


def terms(text: str) -> dict[int, float]:
    body, _, size = text.partition("}/")
    assert size == "1000000000"
    return {int(i): float(w) for i, w in (pair.split(":") for pair in body[1:].split(","))}


def test_idf_is_what_the_formula_says_by_hand() -> None:
    # ln(1 + (10 - 2 + 0.5) / (2 + 0.5)) = ln(4.4)
    assert idf(10, 2) == pytest.approx(1.4816045409242156)
    assert idf(10, 10) == pytest.approx(math.log(1 + 0.5 / 10.5))


@given(st.integers(0, 10**9), st.integers(-5, 10**9))
def test_idf_is_never_negative_even_when_counts_lag_behind(chunks: int, holding: int) -> None:
    assert idf(chunks, holding) >= 0


def test_a_rarer_word_never_weighs_less() -> None:
    assert [idf(100, n) for n in range(101)] == sorted((idf(100, n) for n in range(101)), reverse=True)


def test_a_word_said_twice_weighs_twice() -> None:
    made = weigh([QuestionWord(1, "tax", 5, 2, 2), QuestionWord(1, "pay", 9, 1, 2)], [collection(1, 10)])[1]
    assert made.weights == {"tax": pytest.approx(2 * 1.4816045409242156), "pay": pytest.approx(1.4816045409242156)}
    assert terms(made.terms) == pytest.approx({5: 2 * 1.4816045409242156, 9: 1.4816045409242156})


def test_collections_of_one_analysis_share_their_counts() -> None:
    words = [QuestionWord(1, "tax", 5, 1, 1), QuestionWord(2, "tax", 7, 1, 3)]
    made = weigh(words, [collection(1, 10), collection(2, 30)])
    shared = math.log(1 + (40 - 4 + 0.5) / (4 + 0.5))
    assert made[1].weights == made[2].weights == {"tax": pytest.approx(shared)}
    assert terms(made[1].terms) == pytest.approx({5: shared})
    assert terms(made[2].terms) == pytest.approx({7: shared})


def test_collections_of_another_analysis_keep_their_own_counts() -> None:
    words = [QuestionWord(1, "tax", 5, 1, 1), QuestionWord(2, "tax", 7, 1, 3)]
    made = weigh(words, [collection(1, 10), collection(2, 30, "english")])
    assert made[1].weights == {"tax": pytest.approx(idf(10, 1))}
    assert made[2].weights == {"tax": pytest.approx(idf(30, 3))}


def test_a_collection_that_is_not_asked_counts_for_nothing() -> None:
    words = [QuestionWord(1, "tax", 5, 1, 1), QuestionWord(2, "tax", 7, 1, 900)]
    made = weigh(words, [collection(1, 10)])
    assert made.keys() == {1}
    assert made[1].weights == {"tax": pytest.approx(idf(10, 1))}


def test_a_collection_that_holds_none_of_the_words_still_counts_among_the_chunks() -> None:
    made = weigh([QuestionWord(1, "tax", 5, 1, 1)], [collection(1, 10), collection(2, 90)])
    assert made.keys() == {1}
    assert made[1].weights == {"tax": pytest.approx(idf(100, 1))}


def test_a_word_with_two_ids_is_looked_for_once_and_scored_under_both() -> None:
    words = [QuestionWord(1, "tax", 9, 1, 3), QuestionWord(1, "tax", 5, 1, 1)]
    made = weigh(words, [collection(1, 10)])[1]
    assert made.query == "'tax'"
    assert made.weights == {"tax": pytest.approx(idf(10, 4))}
    assert list(terms(made.terms)) == [5, 9]
    assert terms(made.terms) == pytest.approx({5: idf(10, 4), 9: idf(10, 4)})


def test_the_ids_are_in_order_and_the_weights_keep_every_digit() -> None:
    words = [QuestionWord(1, f"w{n}", 100 - n, 1, n + 1) for n in range(20)]
    made = weigh(words, [collection(1, 1000)])[1]
    assert list(terms(made.terms)) == sorted(terms(made.terms))
    assert terms(made.terms) == {100 - n: idf(1000, n + 1) for n in range(20)}


def test_of_too_many_words_the_commonest_are_left_out_and_named() -> None:
    words = [QuestionWord(1, f"w{n:05}", n, 1, n) for n in range(1, MAX_WORDS + 4)]
    made = weigh(words, [collection(1, 5_000)])[1]
    assert made.dropped == tuple(f"w{n:05}" for n in range(MAX_WORDS + 1, MAX_WORDS + 4))
    assert len(made.weights) == len(terms(made.terms)) == made.query.count("|") + 1 == MAX_WORDS


def test_the_same_words_in_another_order_give_the_same_query() -> None:
    words = [QuestionWord(1, f"w{n % 7}", n, 1, 3) for n in range(20)]
    assert weigh(words, [collection(1, 100)]) == weigh(words[::-1], [collection(1, 100)])


def test_a_question_without_known_words_has_no_lexical_query() -> None:
    assert weigh([], [collection(1, 10)]) == {}


LEXEMES = [
    "it's",
    "back\\slash",
    "\\",
    "'",
    "''",
    "\\'",
    "a b",
    "a|b",
    "!a",
    "a:*",
    "(",
    "&",
    "合同",
    "😀",
    '"',
    "%s",
    "<->",
    ":A",
]


@pytest.mark.parametrize("word", LEXEMES)
def test_a_lexeme_comes_through_tsquery_as_it_was(word: str, conn: Any) -> None:
    made = weigh([QuestionWord(1, word, 1, 1, 1), QuestionWord(1, "other", 2, 1, 1)], [collection(1, 10)])[1]
    row = conn.execute(
        "SELECT array_to_tsvector(ARRAY[%(word)s]) @@ %(query)s::tsquery, numnode(%(query)s::tsquery)",
        {"word": word, "query": made.query},
    ).fetchone()
    assert row == (True, 3)


def test_the_terms_are_a_sparsevec(conn: Any) -> None:
    made = weigh([QuestionWord(1, "a", 1, 1, 1), QuestionWord(1, "b", 1_000_000_000, 1, 1)], [collection(1, 10)])[1]
    row = conn.execute("SELECT -(%s::sparsevec <#> '{1:1}/1000000000'::sparsevec)", [made.terms]).fetchone()
    assert row[0] == pytest.approx(idf(10, 1))
