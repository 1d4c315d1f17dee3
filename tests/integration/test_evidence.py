"""Evidence in a search: words say which of several collections has the answer, where vectors cannot."""

from __future__ import annotations

import math

import pytest

from fix_braid import constant, documents, found, made_of, with_function
from pgbraid import Braid, BranchScore, SearchResult

SOME_WORDS = {"near": "a crane lifts the steel", "far": "rain again"}
EVERY_WORD = {"near": "a crane lifts the steel beam", "far": "snow again"}
QUESTION = "crane lifts steel beam"


@pytest.fixture
def two(braid: Braid) -> Braid:
    """`some` and `every`, each with an embedder of its own that cannot tell any texts apart."""
    for name, texts in (("some", SOME_WORDS), ("every", EVERY_WORD)):
        with_function(braid, f"{name}-embedder", constant)
        made_of(braid, name, embedder=f"{name}-embedder")
        braid.ingest(name, documents(texts))
    return braid


def evidence(result: SearchResult) -> dict[str, set[BranchScore]]:
    """What each collection's chunks got for it."""
    got: dict[str, set[BranchScore]] = {p.collection: set() for p in result.passages}
    for passage in result.passages:
        for chunk in passage.chunks:
            got[passage.collection] |= {b for b in chunk.branches if b.branch == "evidence"}
    return got


def best_by_words(result: SearchResult, collection: str) -> float:
    """The highest BM25 score that a chunk of the collection got."""
    chunks = [c for p in result.passages if p.collection == collection for c in p.chunks]
    return max(b.score for c in chunks for b in c.branches if b.metric == "bm25")


def test_the_collection_whose_words_match_better_comes_first_whatever_order_they_are_named_in(two: Braid) -> None:
    for named in (("some", "every"), ("every", "some")):
        order = [collection for collection, _ in found(two.search(QUESTION, collections=named))]
        assert order == ["every", "every", "some", "some"]


def test_without_the_weight_the_collections_are_mixed(two: Braid) -> None:
    mixed = two.search(QUESTION, collections=("some", "every"), evidence_weight=0)
    assert [collection for collection, _ in found(mixed)] != ["every", "every", "some", "some"]
    assert evidence(mixed) == {"some": set(), "every": set()}


@pytest.mark.parametrize("weight", [4.0, 1.5])
def test_every_chunk_of_the_poorer_collection_loses_the_same_and_shows_why(two: Braid, weight: float) -> None:
    result = two.search(QUESTION, collections=("some", "every"), evidence_weight=weight)
    share = best_by_words(result, "some") / best_by_words(result, "every")
    assert 0.4 < share < 1  # above the floor, or any ratio would do
    got = evidence(result)
    assert got["every"] == set()
    (lost,) = got["some"]
    assert lost.score == pytest.approx(share) and lost.contribution == pytest.approx(weight * math.log(share))


def test_one_collection_alone_is_not_weighed(two: Braid) -> None:
    assert evidence(two.search(QUESTION, collections="some")) == {"some": set()}


def test_a_question_whose_words_nobody_holds_leaves_the_collections_alike(two: Braid) -> None:
    result = two.search("unheard", collections=("some", "every"))
    assert len(result.passages) == 4 and evidence(result) == {"some": set(), "every": set()}
