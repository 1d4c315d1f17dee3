"""Plans: which branches a search has, which of them compare, how each is searched, and what an option may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pgbraid.errors import SettingsError, UnknownOption
from pgbraid.lexical import LexicalQuery
from pgbraid.plan import MAX_EF_SEARCH, Plan, make_plan, with_options
from pgbraid.values import Chunking, Collection, EmbedderRecord, Profile, VectorIndex

SMALL, LARGE = EmbedderRecord("small", "hashing", "m", 8, id=1), EmbedderRecord("large", "hashing", "m", 8, id=2)
QUERY = LexicalQuery("'a'", "{1:1}/1000000000", {"a": 1.0})


def collection(number: int, chunks: int = 50_000, **changed: Any) -> Collection:
    made = Collection(
        number, f"c{number}", "", "simple", "simple", SMALL, Chunking(), VectorIndex(), 1.2, 0.75,
        f"document_{number}", f"chunk_{number}", documents=chunks, chunks=chunks,
    )  # fmt: skip
    return replace(made, **changed)


def plan(
    *collections: Collection, profile: Profile = Profile(), words: Mapping[int, LexicalQuery] | None = None, **more: Any
) -> Plan:
    return make_plan(collections, {c.id: QUERY for c in collections} if words is None else words, profile, **more)


def ways(made: Plan) -> list[str]:
    return [branch.way for branch in made.branches]


def test_a_collection_has_a_dense_and_a_lexical_branch_numbered_from_one() -> None:
    made = plan(collection(4), collection(7))
    assert [(b.number, b.name) for b in made.branches] == [
        (1, "c4/dense"),
        (2, "c4/lexical"),
        (3, "c7/dense"),
        (4, "c7/lexical"),
    ]
    assert [b.metric for b in made.branches] == ["cosine", "bm25", "cosine", "bm25"]


def test_branches_of_one_embedder_or_one_analysis_share_a_pool() -> None:
    made = plan(collection(1), collection(2), collection(3, embedder=LARGE), collection(4, text_config="english"))
    pools = {branch.name: branch.pool for branch in made.branches}
    assert pools["c1/dense"] == pools["c2/dense"] == pools["c4/dense"] != pools["c3/dense"]
    assert pools["c1/lexical"] == pools["c2/lexical"] == pools["c3/lexical"] != pools["c4/lexical"]
    assert len(set(pools.values())) == 4


def test_words_and_vectors_never_share_a_pool() -> None:
    assert len({branch.pool for branch in plan(collection(1)).branches}) == 2


def test_a_collection_without_the_words_has_no_lexical_branch() -> None:
    assert [b.name for b in plan(collection(1), collection(2), words={2: QUERY}).branches] == [
        "c1/dense",
        "c2/dense",
        "c2/lexical",
    ]


@pytest.mark.parametrize(("weight", "method"), [("dense_weight", "lexical"), ("lexical_weight", "dense")])
def test_a_weight_of_zero_leaves_a_branch_out(weight: str, method: str) -> None:
    made = plan(collection(1), profile=with_options(Profile(), {weight: 0}))
    assert [b.method for b in made.branches] == [method]


def test_weights_and_thresholds_reach_their_branches() -> None:
    options = {"dense_weight": 2, "lexical_weight": 0.5, "dense_threshold": 0.3, "lexical_threshold": 7.0}
    made = plan(collection(1), profile=with_options(Profile(), options))
    assert [(b.weight, b.threshold) for b in made.branches] == [(2, 0.3), (0.5, 7.0)]


@pytest.mark.parametrize(
    ("chunks", "filter_", "tenants", "way"),
    [
        (50_000, None, False, "index"),
        (10_001, None, False, "index"),
        (10_000, None, False, "exact"),
        (0, None, False, "exact"),
        (50_000, "$.a == 1", False, "adaptive"),
        (50_000, None, True, "adaptive"),
        (10_000, "$.a == 1", True, "exact"),
    ],
)
def test_the_way_follows_from_size_filter_and_tenants(
    chunks: int, filter_: str | None, tenants: bool, way: str
) -> None:
    asked = collection(1, chunks, tenants=tenants)
    assert ways(plan(asked, condition=filter_, tenant="acme")) == [way, "words"]


def test_of_several_collections_the_lexical_branches_are_evidence_of_which_has_the_answer() -> None:
    assert plan(collection(1), collection(2)).evidence_branches == (2, 4)
    assert plan(collection(1), collection(2), words={1: QUERY}).evidence_branches == (2,)


def test_there_is_no_evidence_for_one_collection_without_weight_or_by_other_fusions() -> None:
    assert plan(collection(1)).evidence_branches == ()
    for options in ({"evidence_weight": 0}, {"fusion": "rrf"}, {"fusion": "minmax"}):
        profile = with_options(Profile(), options)
        assert plan(collection(1), collection(2), profile=profile).evidence_branches == ()


def test_where_a_quarter_of_all_rows_is_asked_for_all_are_compared() -> None:
    profile = with_options(Profile(), {"candidates": 5_000})
    assert ways(plan(collection(1, 20_000), profile=profile))[0] == "exact"
    assert ways(plan(collection(1, 20_001), profile=profile))[0] == "index"


def test_only_index_scans_ask_for_breadth() -> None:
    assert plan(collection(1, 100)).ef_search is None
    assert plan(collection(1), condition="$.a == 1").ef_search is not None


def test_the_breadth_is_the_widest_that_a_collection_or_the_candidates_need_and_never_more_than_pgvector_takes() -> (
    None
):
    wide = collection(2, index=VectorIndex(ef_search=300))
    exact = collection(3, 10, index=VectorIndex(ef_search=900))
    assert (plan(collection(1), wide, exact).ef_search or 0) >= 300
    assert (plan(collection(1), wide, exact).ef_search or 0) < 900
    assert (plan(collection(1), profile=with_options(Profile(), {"candidates": 700})).ef_search or 0) >= 700
    assert plan(collection(1), profile=with_options(Profile(), {"candidates": 5_000})).ef_search == MAX_EF_SEARCH


def test_a_rerank_takes_more_documents_without_their_texts() -> None:
    plain, reranked = (
        plan(collection(1)),
        plan(collection(1), profile=with_options(Profile(), {"rerank": "maxsim:small"})),
    )
    assert (plain.documents, plain.with_text) == (5, True)
    assert (reranked.documents, reranked.with_text) == (30, False)
    many = with_options(Profile(), {"rerank": "maxsim:small", "top_k": 50})
    assert plan(collection(1), profile=many).documents == 50


def test_there_are_never_fewer_candidates_than_documents() -> None:
    assert plan(collection(1), profile=with_options(Profile(), {"top_k": 300})).candidates == 300


def test_a_wider_plan_has_more_candidates_and_chooses_its_ways_anew() -> None:
    made = plan(collection(1, 12_000), collection(2))
    assert ways(made) == ["index", "words", "index", "words"]
    wider = made.wider().wider().wider()
    assert (made.candidates, wider.candidates) == (100, 6_400)
    assert ways(wider) == ["exact", "words", "index", "words"]
    assert replace(wider, branches=made.branches, candidates=made.candidates) == made


def test_what_the_caller_gave_is_kept_in_the_plan() -> None:
    made = plan(collection(1), tenant="acme", condition="$.a == 1")
    assert (made.tenant, made.filter) == ("acme", "$.a == 1")


def test_no_collections_give_no_branches() -> None:
    assert plan().branches == ()


def test_an_option_of_none_leaves_the_setting_and_the_profile_is_not_changed() -> None:
    profile = Profile(top_k=9)
    assert with_options(profile, {"top_k": None, "fusion": "rrf"}) == Profile(top_k=9, fusion="rrf")
    assert profile == Profile(top_k=9)


def test_an_unknown_option_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownOption, match=r"no setting 'topk'\. Did you mean 'top_k'"):
        with_options(Profile(), {"topk": 3})
    with pytest.raises(UnknownOption):
        with_options(Profile(), {"nonsense": None})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("top_k", 0), ("top_k", -1), ("top_k", 1001), ("top_k", True), ("top_k", 5.0), ("top_k", "5"),
        ("candidates", 0), ("candidates", 100_001), ("rrf_k", 0), ("rrf_k", 10_001), ("rerank_top_k", 0),
        ("dense_weight", -0.1), ("dense_weight", float("nan")), ("lexical_weight", float("inf")),
        ("lexical_weight", "1"), ("dense_weight", True), ("dense_threshold", float("nan")), ("dense_threshold", "x"),
        ("lexical_threshold", False), ("fusion", "sum"), ("fusion", ""), ("rerank", ""), ("rerank", " "), ("rerank", 3),
    ],
)  # fmt: skip
def test_a_value_that_cannot_work_is_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=option) as caught:
        with_options(Profile(), {option: value})
    assert repr(value) in str(caught.value)


def test_weights_that_would_search_nothing_are_refused() -> None:
    with pytest.raises(SettingsError, match="nothing would be searched"):
        with_options(Profile(), {"dense_weight": 0, "lexical_weight": 0})
