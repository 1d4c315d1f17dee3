"""Specs, functions, and late interaction over vectors given by hand."""

import sys

import numpy as np
import pytest

from pgbraid import embed, rerank
from pgbraid.errors import MissingExtra, ModelError, SettingsError


class Letters:
    """Each letter a or b is a token; a points east, b north, c between them."""

    dimensions, max_tokens, fingerprint = 2, 100, "letters:1"
    asked: list[list[str]]

    def __init__(self):
        self.asked = []

    @property
    def tokenizer(self):
        return self

    def offsets(self, text):
        return [(at, at + 1) for at in range(len(text))]

    def token_vectors(self, texts):
        self.asked.append(list(texts))
        half = 2**-0.5
        places = {"a": (1, 0), "b": (0, 1), "c": (half, half)}
        return [np.array([places[c] for c in text], np.float32).reshape(-1, 2) for text in texts]


def test_maxsim_is_the_mean_of_the_best_cosines():
    scores = rerank.maxsim(Letters()).score("ab", ["a", "ab", "c", "b"])
    assert scores == pytest.approx([0.5, 1.0, 2**-0.5, 0.5])


def test_maxsim_reads_equal_texts_once():
    letters = Letters()
    assert rerank.maxsim(letters).score("a", ["b", "a", "b"]) == pytest.approx([0, 1, 0])
    assert letters.asked == [["a", "b", "a"]]


def test_maxsim_gives_the_lowest_score_where_there_is_no_token():
    assert rerank.maxsim(Letters()).score("a", ["", "b"]) == [-1.0, 0.0]
    assert rerank.maxsim(Letters()).score("", ["a"]) == [-1.0]
    assert rerank.maxsim(Letters()).score("a", []) == []


def test_maxsim_leaves_half_to_the_fused_score_and_names_its_embedder():
    reranker = rerank.maxsim(Letters())
    assert reranker.blend == 0.5 and reranker.identity == "maxsim:letters:1"


def test_maxsim_reads_what_its_embedder_reads_of_a_text_and_tells_what_it_cut():
    letters = Letters()
    letters.max_tokens = 4
    for overflow, score in (("reject", None), ("truncate", 0.0), ("window", 1.0)):
        found = rerank.score(rerank.maxsim(letters), "b", [["aaaaaab"]], rerank.Wanted(overflow), rerank.ScoreCache(9))
        assert found.scores == (score,)
        assert found.over == ({} if score is None else {"aaaaaab": 7}) and found.unit == "tokens"
    assert found.refused == {} and letters.asked[-1] == ["b", "aaaa", "aaab"]


def test_maxsim_of_an_embedder_without_token_vectors_is_refused():
    with pytest.raises(ModelError, match="kind 'transformers'"):
        rerank.maxsim(embed.from_callable(lambda texts: texts, 2, "f"))


def test_a_function_becomes_a_reranker():
    reranker = rerank.from_callable(lambda question, texts: [len(text) for text in texts], "length", blend=0.3)
    assert list(reranker.score("q", ["a", "bcd"])) == [1.0, 3.0]
    assert (reranker.identity, reranker.blend) == ("callable:length", 0.3)


@pytest.mark.parametrize(
    ("given", "words"),
    [([1.0], "1 scores for 2 texts"), ([1.0, 2.0, 3.0], "3 scores"), (None, "no list"), (["x", "y"], "no list")],
)
def test_what_a_function_gives_is_checked(given, words):
    with pytest.raises(ModelError, match=words):
        rerank.from_callable(lambda question, texts: given, "f").score("q", ["a", "b"])


def test_what_a_function_raises_is_told():
    with pytest.raises(ModelError, match="'callable:f' failed on 1 texts: ZeroDivisionError"):
        rerank.from_callable(lambda question, texts: 1 / 0, "f").score("q", ["a"])


def test_a_blend_of_a_function_must_be_a_share():
    with pytest.raises(SettingsError, match="blend"):
        rerank.from_callable(lambda question, texts: [], "f", blend=2)


@pytest.mark.parametrize("spec", ["", "cross-encoder", "cross-encoder:", "maxsum:x", "models/reranker"])
def test_a_spec_that_cannot_be_read_names_what_can(spec):
    with pytest.raises(SettingsError, match="cross-encoder, endpoint, exits, maxsim"):
        rerank.load(spec)


@pytest.mark.parametrize("spec", ["cross-encoder:/some/where", "maxsim:/some/where"])
def test_a_missing_library_names_the_extra(monkeypatch, spec):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pgbraid\[models\]"):
        rerank.load(spec)
