"""A question's way through the real database: what is asked, what comes back, and what the answer says of itself."""

from __future__ import annotations

import copy
import operator
import random
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytest

from fix_braid import (
    HANDBOOK,
    RUNBOOK,
    constant,
    documents,
    found,
    ids,
    made_of,
    sentences,
    with_function,
)
from pgbraid import Braid, Document, EmbedderRecord, SearchResult
from pgbraid.embed import from_callable
from pgbraid.errors import (
    BadQuestion,
    FilterError,
    ModelError,
    NoSuchCollection,
    NoSuchEmbedder,
    NoSuchProfile,
    NothingToSearch,
    SettingsError,
    UnknownOption,
)
from pgbraid.rerank import from_callable as reranker_of
from pgbraid.split.tokens import WordTokenizer


def failing(*_: Any) -> Any:
    raise RuntimeError("the model is gone")


# ── who is asked ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_named_collection_is_asked_alone(library: Braid) -> None:
    result = library.search("approval", collections="tech")
    assert result.decision.chosen == ("tech",) and {c for c, _ in found(result)} == {"tech"}


def test_an_alias_means_its_collection(library: Braid) -> None:
    result = library.search("合同归档", collections="法务", top_k=1)
    assert found(result) == [("legal", "archive")] and result.decision.chosen == ("legal",)


def test_a_rule_decides_where_none_is_named(library: Braid) -> None:
    result = library.search("合同审批要走什么流程", top_k=1)
    assert result.decision.selector == "rules" and found(result) == [("legal", "approval")]


def test_an_unknown_name_lists_what_exists_and_the_nearest(library: Braid) -> None:
    with pytest.raises(NoSuchCollection, match=r"'tec'.*Did you mean 'tech'.*hr.*legal.*tech.*法务"):
        library.search("approval", collections=["hr", "tec"])
    with pytest.raises(NoSuchProfile):
        library.search("approval", profile="nowhere")


def test_route_decides_as_search_does(library: Braid) -> None:
    for question in ("合同审批要走什么流程", "how much leave", "what is backed up"):
        decided, searched = library.route(question), library.search(question).decision
        assert (decided.chosen, decided.selector, decided.reason) == (
            searched.chosen,
            searched.selector,
            searched.reason,
        )


def test_choosing_nothing_is_an_answer_or_an_error_as_declared(braid: Braid) -> None:
    made_of(braid)
    braid.apply({"default": "none"})
    result = braid.search("anything")
    assert (result.status, result.decision.chosen, result.degraded) == ("nothing", (), False)
    braid.apply({"default": "error"})
    with pytest.raises(NothingToSearch):
        braid.search("anything")


# ── nothing, failed, degraded, underfilled ─────────────────────────────────────────────────────────────────


def test_an_empty_collection_gives_nothing_and_no_failure(braid: Braid) -> None:
    made_of(braid)
    result = braid.search("anything")
    assert (result.status, result.passages, result.degraded) == ("nothing", (), False)
    assert (result.underfilled, result.approximate, result.failures) == (False, False, ())


def test_fewer_documents_than_asked_are_not_called_underfilled_when_no_more_exist(library: Braid) -> None:
    result = library.search("leave", collections="hr", top_k=50)
    assert sorted(ids(result)) == sorted(HANDBOOK) and not result.underfilled and not result.approximate


def test_a_failing_embedder_leaves_the_words_and_is_named(braid: Braid) -> None:
    with_function(braid, "f", constant)
    made_of(braid, embedder="f")
    braid.ingest("notes", documents(HANDBOOK))
    braid.register_embedder("f", from_callable(failing, 4, "f"))
    result = braid.search("sick", top_k=1)
    assert ids(result) == ["sick"] and result.status == "found" and result.degraded
    assert [f.part for f in result.failures] == ["embedder f"] and "the model is gone" in result.failures[0].reason
    assert [b.branch for b in result.passages[0].chunks[0].branches] == ["notes/lexical"]


@pytest.mark.parametrize("vector", [np.full(4, np.nan), np.zeros(4), np.full(4, np.inf)])
def test_a_question_vector_that_cannot_be_used_is_a_failed_branch(braid: Braid, vector: Any) -> None:
    with_function(braid, "f", constant)
    made_of(braid, embedder="f")
    braid.ingest("notes", documents(HANDBOOK))
    braid.register_embedder("f", from_callable(constant, 4, "f", query_function=lambda texts: [vector] * len(texts)))
    result = braid.search("sick", top_k=1)
    assert ids(result) == ["sick"] and result.degraded


def test_one_failing_embedder_does_not_touch_the_collections_of_another(braid: Braid) -> None:
    with_function(braid, "f", constant)
    made_of(braid, "a", embedder="f")
    made_of(braid, "b")
    braid.ingest("a", documents(RUNBOOK))
    braid.ingest("b", documents(HANDBOOK))
    braid.register_embedder("f", from_callable(failing, 4, "f"))
    result = braid.search("sick")
    assert found(result)[0] == ("b", "sick") and result.degraded
    assert "b/dense" in {b.branch for b in result.passages[0].chunks[0].branches}


def test_no_branch_left_is_a_failure_and_not_an_empty_answer(braid: Braid) -> None:
    with_function(braid, "f", constant)
    made_of(braid, embedder="f")
    braid.ingest("notes", documents(HANDBOOK))
    braid.register_embedder("f", from_callable(failing, 4, "f"))
    with pytest.raises(ModelError, match="the model is gone"):
        braid.search("unheardof")


def test_a_failing_reranker_keeps_the_fused_order_and_is_named(library: Braid) -> None:
    library.register_reranker("broken", reranker_of(failing, "broken"))
    plain = library.search("approval of the manager", collections="hr")
    result = library.search("approval of the manager", collections="hr", rerank="broken")
    assert ids(result) == ids(plain) and [p.text for p in result.passages] == [p.text for p in plain.passages]
    assert result.degraded and result.failures[0].part == "reranker broken" and result.status == "found"
    assert all(p.rerank_score is None for p in result.passages)


def test_a_reranker_reorders_and_keeps_the_old_scores(library: Braid) -> None:
    library.register_reranker("shortest", reranker_of(lambda _, texts: [-len(t) for t in texts], "shortest"))
    plain = {p.external_id: p for p in library.search("approval", collections="hr", top_k=4).passages}
    result = library.search("approval", collections="hr", top_k=3, rerank="shortest")
    scores = [p.rerank_score for p in result.passages]
    assert len(result.passages) == 3 and scores == sorted(scores, reverse=True)  # type: ignore[type-var]
    for passage in result.passages:
        assert passage.fused_score == plain[passage.external_id].fused_score
        assert passage.text == plain[passage.external_id].text
        assert passage.chunks[0].rerank_score == passage.rerank_score
    assert library.search("approval", collections="hr", rerank=False).passages[0].rerank_score is None


# ── scores ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("fusion", ["zscore", "minmax", "rrf"])
@pytest.mark.parametrize("collections", [(), ("hr",), ("hr", "legal")])
def test_what_the_branches_gave_adds_up_to_the_fused_score_to_the_bit(
    library: Braid, fusion: str, collections: Sequence[str]
) -> None:
    result = library.search(
        "approval of leave by the manager and a contract",
        collections=collections,
        fusion=fusion,
        dense_weight=0.7,
        lexical_weight=1.3,
        top_k=20,
    )
    chunks = [c for p in result.passages for c in p.chunks]
    assert chunks
    for chunk in chunks:
        assert reduce(operator.add, [b.contribution for b in chunk.branches]) == chunk.fused_score
    for passage in result.passages:
        assert passage.fused_score == passage.chunks[0].fused_score == max(c.fused_score for c in passage.chunks)


def test_a_contribution_is_computed_from_the_raw_scores_of_its_pool(library: Braid) -> None:
    result = library.search("approval of the manager", collections="hr", top_k=20)
    for branch in ("hr/dense", "hr/lexical"):
        hits = [b for p in result.passages for c in p.chunks for b in c.branches if b.branch == branch]
        raw = np.array([b.score for b in hits])
        for hit in hits:
            assert hit.contribution == pytest.approx((hit.score - raw.min()) / raw.std(), rel=1e-9)
        assert sorted(b.rank for b in hits) == list(range(1, len(hits) + 1))
        assert [b.score for b in sorted(hits, key=lambda b: b.rank)] == sorted(raw, reverse=True)


def test_a_score_of_zero_is_a_score(braid: Braid) -> None:
    def across(texts: Sequence[str]) -> Any:
        return [[0.0, 1, 0, 0] if "other" in text else [1.0, 0, 0, 0] for text in texts]

    with_function(braid, "f", across)
    made_of(braid, embedder="f")
    braid.ingest("notes", [Document("same", "one"), Document("at right angles", "other")])
    result = braid.search("question", lexical_weight=0)
    assert [(p.external_id, p.chunks[0].branches[0].score) for p in result.passages] == [
        ("same", 1.0),
        ("at right angles", 0.0),
    ]
    assert result.passages[1].fused_score == 0.0 and result.passages[1].rerank_score is None
    kept = braid.search("question", lexical_weight=0, dense_threshold=0.0)
    assert len(kept.passages) == 2
    assert ids(braid.search("question", lexical_weight=0, dense_threshold=1e-9)) == ["same"]


def test_a_threshold_acts_on_the_raw_score_before_fusion(library: Braid) -> None:
    plain = library.search("approval of the manager", collections="hr", top_k=20)
    dense = sorted(b.score for p in plain.passages for c in p.chunks for b in c.branches if b.metric == "cosine")
    limit = dense[len(dense) // 2]
    cut = library.search("approval of the manager", collections="hr", top_k=20, dense_threshold=limit)
    left = [b for p in cut.passages for c in p.chunks for b in c.branches if b.metric == "cosine"]
    assert sorted(b.score for b in left) == [s for s in dense if s >= limit]
    assert min(b.contribution for b in left) == 0.0  # the worst that is left is what the others are measured from
    nothing = library.search("approval", collections="hr", dense_threshold=2.0, lexical_threshold=1e9)
    assert (nothing.status, nothing.degraded, nothing.underfilled) == ("nothing", False, False)


# ── order, and how many ────────────────────────────────────────────────────────────────────────────────────


def test_k_are_found_although_one_document_has_a_thousand_nearer_chunks(braid: Braid) -> None:
    def near(texts: Sequence[str]) -> Any:
        return [[1.0, 0.001 * ("far" in text), 0, 0] for text in texts]

    with_function(braid, "f", near)
    made_of(braid, embedder="f")
    crowd = ". ".join(f"common{i % 7} " * 23 for i in range(1100))
    braid.ingest("notes", [Document("crowd", crowd), *(Document(f"far{i}", f"far word{i}") for i in range(6))])
    assert braid.collection("notes").chunks > 1000
    result = braid.search("common1", top_k=5)
    assert ids(result)[0] == "crowd" and len(set(ids(result))) == 5 and not result.underfilled
    assert [p.external_id for p in result.passages[1:]] == sorted(
        ids(result)[1:], key=lambda name: ids(braid.search("common1", top_k=7)).index(name)
    )


def loaded(braid: Braid, texts: Sequence[tuple[str, str]], sizes: Callable[[], int]) -> None:
    for name in ("b", "a"):
        made_of(braid, name)
        left = list(texts)
        while left:
            size = sizes()
            braid.ingest(name, [Document(i, t) for i, t in left[:size]])
            left = left[size:]
        braid.refresh_words(name, exact=True)


def same(one: SearchResult, two: SearchResult) -> None:
    assert found(one) == found(two)
    for mine, theirs in zip(one.passages, two.passages, strict=True):
        assert mine.fused_score == pytest.approx(theirs.fused_score, abs=1e-5)
        assert [c.ordinal for c in mine.chunks] == [c.ordinal for c in theirs.chunks]


def test_the_same_data_loaded_in_another_order_give_the_same_answers(another: Callable[[], Braid]) -> None:
    texts = [(f"d{i}", text) for i, text in enumerate(sentences(3, 60))]
    texts += [(f"twin{i}", "w1 w2 w3 alike") for i in range(8)]
    shuffled = random.Random(5).sample(texts, len(texts))
    first, second = another(), another()
    loaded(first, texts, lambda: 100)
    chance = random.Random(6)
    loaded(second, shuffled, lambda: chance.randint(1, 30))
    for question in ("w1 w2 alike", "w5", "w40 w3 w2", "alike", "unheardof"):
        for fusion, k in (("zscore", 10), ("rrf", 10), ("minmax", 10), ("zscore", 3)):
            same(first.search(question, top_k=k, fusion=fusion), second.search(question, top_k=k, fusion=fusion))


def test_equal_documents_come_in_the_same_order_every_time(library: Braid, braid: Braid) -> None:
    made_of(braid)
    braid.ingest("notes", [Document(f"twin{i}", "quite the same words") for i in range(30)])
    first = ids(braid.search("same words", top_k=30))
    for k in (1, 7, 30):
        assert ids(braid.search("same words", top_k=k)) == first[:k]


# ── what comes back ────────────────────────────────────────────────────────────────────────────────────────


def test_every_chunk_stands_in_its_document_where_it_says(braid: Braid) -> None:
    made_of(braid)
    text = "# Überschrift 😀\n\n" + "\n\n".join(
        f"第{i}段 café 𠀀 naïve e\u0301 words and {s}." for i, s in enumerate(sentences(1, 40))
    )
    braid.ingest(
        "notes", [Document("one", text, "Titel", format="markdown"), Document("crlf", "a\r\nb\r\nw1\x00w2 " * 40)]
    )
    for question in ("w1 w3", "第3段", "café", "b"):
        for passage in braid.search(question, top_k=10).passages:
            assert passage.chunks
            for chunk in passage.chunks:
                assert passage.text[chunk.start : chunk.end] == chunk.text


def test_documents_come_whole_with_their_title_and_metadata(braid: Braid) -> None:
    made_of(braid)
    given = {"year": 2024, "tags": ["a", "b"], "deep": {"er": None}}
    braid.ingest("notes", [Document("one", "\n\n  some text here \n", "A title", given)])
    passage = braid.search("text").passages[0]
    assert (passage.text, passage.title, passage.metadata) == ("\n\n  some text here \n", "A title", given)


def test_a_search_can_be_explained_down_to_its_statement(library: Braid) -> None:
    text = library.statement("approval", collections="hr", filter={"n": "it's"})
    assert "%(" not in text and "pgbraid:retrieve/composed" in text
    trace = library.search("approval", collections="hr").trace
    assert {"look_up", "retrieve", "embed", "total"} <= set(trace.milliseconds) and trace.counts["collections"] == 1


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_filter_and_top_k_reach_every_branch(large: Braid) -> None:
    everything = large.search("w1 w2", top_k=10)
    assert any(not p.metadata["rare"] for p in everything.passages)
    result = large.search("w1 w2", top_k=7, filter={"rare": True})
    assert len(result.passages) == 7 and all(p.metadata["rare"] for p in result.passages)
    branches = {b.branch for p in result.passages for c in p.chunks for b in c.branches}
    assert branches == {"large/dense", "large/lexical"}
    assert result.trace.counts["large/dense hits"] == 20  # every document that passes the filter, and none else


@pytest.mark.parametrize(
    "options",
    [
        {"top_n": 3},
        {"name": "x"},
        {"k": 3},
    ],
)
def test_an_unknown_option_is_refused(library: Braid, options: dict[str, Any]) -> None:
    with pytest.raises((UnknownOption, TypeError)):
        library.search("approval", **options)


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 0},
        {"top_k": -1},
        {"top_k": True},
        {"top_k": 2.0},
        {"top_k": "3"},
        {"candidates": 0},
        {"fusion": "sum"},
        {"dense_weight": -1},
        {"dense_weight": float("nan")},
        {"dense_weight": 0, "lexical_weight": 0},
        {"dense_threshold": "high"},
        {"rerank": ""},
        {"rerank": True},
        {"rerank": 1},
        {"rerank": 0},
        {"tenant": 5},
        {"tenant": "a\0b"},
        {"tenant": "\ud800"},
        {"collections": 3},
        {"collections": [3]},
    ],
)
def test_an_option_that_cannot_work_is_refused(library: Braid, options: dict[str, Any]) -> None:
    with pytest.raises((SettingsError, NoSuchCollection)):
        library.search("approval", **options)


@pytest.mark.parametrize("wrong", [[], 5, "no json", {"a": {"near": 1}}, {"a": {}}, {"a\0": 1}, {"a": "\ud800"}])
def test_a_filter_that_cannot_be_understood_is_refused(library: Braid, wrong: Any) -> None:
    with pytest.raises(FilterError):
        library.search("approval", filter=wrong)


def test_nothing_of_the_callers_is_changed(braid: Braid) -> None:
    made_of(braid)
    metadata = {"tags": ["b", "a"], "deep": {"x": 1}}
    chosen = {"or": [{"tags": {"contains": "a"}}, {"not": {"deep": {"exists": True}}}]}
    names = ["notes"]
    before = copy.deepcopy((metadata, chosen, names))
    braid.ingest("notes", [Document("one", "some\x00 text", metadata=metadata)])
    braid.search("text", collections=names, filter=chosen)
    assert (metadata, chosen, names) == before


@pytest.mark.parametrize("name", ["cross-encoder", "nonsense", "maxsim:nobody"])
def test_a_reranker_that_does_not_exist_is_refused(library: Braid, name: str) -> None:
    with pytest.raises((SettingsError, NoSuchEmbedder)):
        library.search("approval", collections="hr", rerank=name)


class Raising:
    """A model of the application's that raises what it likes."""

    dimensions, max_tokens, fingerprint = 4, 1000, "raising"
    identity, blend = "raising", 1.0
    tokenizer = WordTokenizer()

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if any("poison" in text for text in texts):
            raise KeyError("poison")
        return constant(texts)

    def embed_queries(self, texts: Sequence[str]) -> Any:
        raise KeyError("question")

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        raise KeyError("pair")


def test_whatever_a_registered_model_raises_is_a_failed_part(braid: Braid) -> None:
    braid.register_embedder("r", Raising())
    braid.add_embedder(EmbedderRecord("r", "callable", "r", 4))
    made_of(braid, embedder="r")
    report = braid.ingest("notes", [*documents(HANDBOOK), Document("bad", "poison")])
    assert (report.added, [r.external_id for r in report.rejected]) == (len(HANDBOOK), ["bad"])
    braid.register_reranker("r", Raising())
    result = braid.search("sick", rerank="r", top_k=1)
    assert ids(result) == ["sick"] and [f.part for f in result.failures] == ["embedder r", "reranker r"]


# ── hostile questions ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "question",
    [
        "leave\x00 of absence",
        "leave \ud800 \udfff",
        "leave'; DROP TABLE pgbraid.document; --",
        "leave 100% %s %(question)s %%",
        "leave & | ! <-> () :* 'x' \\",
        "leave $1 $$ {0} {}",
        "leave E'\\x00' \\u0000",
        '"leave" \\"',
        "😀 leave 👩‍👩‍👧‍👦",
        "leave \u202e\u200b\ufeff",
        "leave " + "a" * 90_000,
        " ".join(f"x{i}" for i in range(15_000)) + " leave",
        "𠀀" * 5_000 + " leave",
    ],
    ids=lambda q: ascii(q[:24]),
)
def test_a_hostile_question_is_only_a_question(library: Braid, question: str) -> None:
    result = library.search(question, collections="hr", top_k=4)
    assert result.status == "found" and len(result.passages) == 4
    assert ids(library.search(question, collections="hr", top_k=1, dense_weight=0)) == ["leave"]


@pytest.mark.parametrize("question", ["the of and", "!!!", "审", "?", "😀"])
def test_a_question_without_a_word_that_counts_is_answered_by_meaning(library: Braid, question: str) -> None:
    result = library.search(question, collections="hr")
    assert result.status == "found" and not result.degraded


@pytest.mark.parametrize("question", ["", "   \n", "\x00", None, 5, b"leave", "x" * 100_001])
def test_what_is_no_question_is_refused(library: Braid, question: Any) -> None:
    with pytest.raises(BadQuestion):
        library.search(question)


@pytest.mark.parametrize("name", ['a"b', "a.b; DROP TABLE x", "名字", "%s", "a'b\\", "SELECT"])
def test_any_text_can_name_a_collection(braid: Braid, name: str) -> None:
    made_of(braid, name)
    braid.ingest(name, documents(HANDBOOK))
    assert found(braid.search("sick", collections=name, top_k=1)) == [(name, "sick")]
    braid.drop_collection(name)
    assert braid.collections() == ()
