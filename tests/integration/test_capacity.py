"""Exact where that is cheap, the index where it is not, and the answer says which."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from fix_braid import constant, documents, found, ids, made_of, rows, sentences, with_function
from pgbraid import Braid, Document, VectorIndex
from pgbraid.embed.hashing import vector
from pgbraid.errors import SettingsError
from pgbraid.plan import MAX_EF_SEARCH


def nearest(texts: dict[str, str], question: str, metric: str = "cosine") -> list[str]:
    """Documents of one chunk each, by their distance to the question, computed here."""
    asked = vector(question, 64)
    return sorted(texts, key=lambda name: -float(np.dot(vector(texts[name], 64), asked)))


def test_a_small_filtered_part_is_compared_whole(large: Braid) -> None:
    texts = {f"d{i}": t for i, t in enumerate(sentences(7, 600)) if i % 30 == 0}
    result = large.search("w1 w5 w9", filter={"rare": True}, top_k=20, candidates=20, lexical_weight=0)
    assert not result.approximate and not result.underfilled
    wanted, asked = nearest(texts, "w1 w5 w9"), vector("w1 w5 w9", 64)
    scores = [p.chunks[0].branches[0].score for p in result.passages]
    assert scores == pytest.approx([float(vector(texts[n], 64) @ asked) for n in wanted], abs=1e-6)


def test_a_tenant_with_few_documents_is_compared_whole(large: Braid) -> None:
    result = large.search("w1 w5 w9", tenant="small", top_k=20, candidates=20, lexical_weight=0)
    assert not result.approximate and len(result.passages) == 20


def test_a_large_part_is_asked_of_the_index_and_says_so(large: Braid) -> None:
    for options in ({}, {"filter": {"n": {"gte": 0}}}):
        result = large.search("w1 w5 w9", top_k=5, candidates=20, **options)  # type: ignore[arg-type]
        assert result.approximate and result.status == "found" and len(result.passages) == 5


def test_the_index_finds_nearly_what_comparing_finds(large: Braid) -> None:
    texts = {f"d{i}": t for i, t in enumerate(sentences(7, 600))}
    result = large.search("w1 w5 w9", top_k=20, candidates=20, lexical_weight=0)
    best = [float(vector(texts[n], 64) @ vector("w1 w5 w9", 64)) for n in nearest(texts, "w1 w5 w9")[:20]]
    scores = [p.chunks[0].branches[0].score for p in result.passages]
    assert scores == sorted(scores, reverse=True) and sum(scores) >= 0.97 * sum(best)


def test_a_collection_whose_index_is_not_used_is_exact(large: Braid) -> None:
    assert not large.search("w1 w2", top_k=5, candidates=160).approximate  # a quarter of the rows: comparing is cheaper
    assert not large.search("w1 w2", top_k=5, candidates=20, dense_weight=0).approximate


def test_an_index_that_gave_nothing_is_not_taken_for_an_exact_answer(large: Braid) -> None:
    result = large.search("w1 w5 w9", top_k=5, candidates=20, dense_threshold=2.0)
    assert result.passages and {b.branch for p in result.passages for c in p.chunks for b in c.branches} == {
        "large/lexical"
    }
    assert result.approximate


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("storage", ["halfvec", "vector"])
def test_every_metric_ranks_the_nearest_first_exactly_and_by_index(braid: Braid, metric: str, storage: str) -> None:
    from dataclasses import replace

    from pgbraid import CollectionSpec, EmbedderRecord
    from pgbraid.embed import from_callable

    def on_a_line(texts: list[str]) -> list[list[float]]:
        return [[float(t.rsplit(" ", 1)[-1]), 1.0, 0.0, 0.0] for t in texts]

    braid.register_embedder("f", from_callable(on_a_line, 4, "f"))
    braid.add_embedder(replace(EmbedderRecord("f", "callable", "f", 4), metric=metric))  # type: ignore[arg-type]
    index = VectorIndex(storage=storage, exact_below=0)  # type: ignore[arg-type]
    braid.create_collection(CollectionSpec("notes", "f", index=index))
    braid.ingest("notes", [Document(f"n{i}", f"number {i}") for i in range(100)])
    wanted = {"cosine": ["n99", "n98"], "ip": ["n99", "n98"], "l2": ["n50", "n49"]}[metric]
    question = {"cosine": "5000", "ip": "60", "l2": "49.9"}[metric]
    for candidates, approximate in ((100, False), (5, True)):
        result = braid.search(question, candidates=candidates, top_k=2, lexical_weight=0)
        assert ids(result) == wanted and result.approximate == approximate
        score = result.passages[0].chunks[0].branches[0]
        assert score.metric == metric
        if metric == "l2":
            assert score.score == pytest.approx(-0.1, abs=0.06)


def test_exact_and_index_can_be_exchanged_without_building_anew(large_dsn: str, braid: Braid) -> None:
    made_of(braid, index=VectorIndex(exact_below=10))
    braid.ingest("notes", [Document(f"d{i}", t) for i, t in enumerate(sentences(2, 100))])
    assert braid.search("w1", candidates=5).approximate
    assert braid.alter_collection("notes", exact_below=1000).index.exact_below == 1000
    assert not braid.search("w1", candidates=5).approximate


def test_only_the_breadth_that_postgres_allows_is_asked_for(large: Braid) -> None:
    result = large.search("w1 w5", candidates=149, top_k=100)
    assert MAX_EF_SEARCH > 2 * 149 and len(result.passages) == 100


def test_what_an_index_cannot_hold_is_refused_when_declared(braid: Braid) -> None:
    with_function(braid, "wide", constant, 3000)
    with pytest.raises(SettingsError, match="2000"):
        made_of(braid, embedder="wide", index=VectorIndex(storage="vector"))
    made_of(braid, "halves", embedder="wide")


def test_a_vector_of_another_length_cannot_get_into_a_collection(braid: Braid, own: str) -> None:
    known = made_of(braid)
    braid.ingest("notes", documents({"one": "text"}))
    with psycopg.connect(own) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(f"UPDATE pgbraid.{known.chunk_table} SET embedding = '[1,2,3]'".encode())
    assert found(braid.search("text")) == [("notes", "one")]
    assert rows(own, f"SELECT count(*) FROM pgbraid.{known.chunk_table}") == [(1,)]
