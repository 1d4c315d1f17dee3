"""Texts that are longer than their reader reads: refused, cut, or read in windows."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgbraid import rerank
from pgbraid.errors import SettingsError
from pgbraid.rerank.reading import Cut, Limit, cut


def _words(text):
    found, at = [], 0
    for word in text.split(" "):
        found.append((at, at + len(word)))
        at += len(word) + 1
    return found


def test_what_fits_or_has_no_limit_is_read_as_it_is():
    for overflow in ("reject", "truncate", "window"):
        assert cut("abcd", Limit(4), overflow).pieces == ("abcd",)
        assert cut("abcd" * 1000, None, overflow).pieces == ("abcd" * 1000,)
        assert cut("", Limit(1), overflow).pieces == ("",)


def test_the_unit_is_what_the_limit_says():
    limit = Limit(2, "words", _words)
    assert cut("one two three", limit, "reject") == Cut(3, ())
    assert cut("one two three", limit, "truncate").pieces == ("one two",)
    assert cut("one two three", limit, "window").pieces == ("one two", "three")


@given(st.text("ab", min_size=1, max_size=80), st.integers(1, 20))
def test_windows_cover_the_text_are_never_too_long_and_share_a_quarter(text, room):
    pieces = cut(text, Limit(room), "window").pieces
    shared = room // 4 if len(pieces) > 1 else 0
    assert pieces[0] + "".join(piece[shared:] for piece in pieces[1:]) == text
    assert all(len(piece) <= room for piece in pieces)
    assert all(first[len(first) - shared :] == second[:shared] for first, second in itertools.pairwise(pieces))


def test_a_function_that_reads_so_many_characters_is_never_given_more():
    given_to = []

    def longest(question, texts):
        given_to.extend(texts)
        return [float(len(text)) for text in texts]

    reranker = rerank.from_callable(longest, "longest", max_chars=3)
    for overflow, score in (("reject", None), ("truncate", 3.0), ("window", 3.0)):
        found = rerank.score(reranker, "q", [["abcdefg"], ["ab"]], rerank.Wanted(overflow), rerank.ScoreCache(9))
        assert found.scores == (score, 2.0)
    assert max(map(len, given_to)) == 3 and {"abc", "def", "g"} <= set(given_to)


@pytest.mark.parametrize("most", [0, -1])
def test_a_function_that_reads_nothing_is_refused(most):
    with pytest.raises(SettingsError, match="at least one character"):
        rerank.from_callable(lambda question, texts: [], "none", max_chars=most)
