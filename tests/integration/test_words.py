"""The lexical branch against BM25 computed the plain way in Python, from the same words."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest

from fix_braid import made_of, sentences
from fix_words import Scores, agree, expected, fill
from pgbraid import Braid, Document
from pgbraid.errors import SettingsError

CHINESE = "合同审批要走什么流程业务部门发起法务审查财务审核最后用印归档员工请假制度"


def chinese(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    return [
        "".join(chance.choices(CHINESE, k=chance.randint(1, 20))) + " w1 leave"[: chance.randint(0, 9)]
        for _ in range(count)
    ]


def branch(braid: Braid, question: str, **options: Any) -> Scores:
    """What the lexical branches gave: raw scores."""
    result = braid.search(question, dense_weight=0, top_k=1000, candidates=10_000, **options)
    assert not result.approximate
    return {
        (p.collection, p.external_id, c.ordinal): b.score
        for p in result.passages
        for c in p.chunks
        for b in c.branches
        if b.metric == "bm25"
    }


@pytest.mark.parametrize("language", ["multilingual", "english"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scores_are_those_of_bm25(braid: Braid, own: str, seed: int, language: str) -> None:
    made_of(braid, language=language)
    fill(braid, "notes", [*sentences(seed, 80, 60, 40), *chinese(seed, 30), "running runs runner", "the of"])
    for question in ("w1 w7 w30", "w1 w1 w2", "合同审批流程", "审 请假制度 w2", "the run", "w39", "w0"):
        agree(branch(braid, question), expected(own, braid, ["notes"], question))


def test_a_word_of_the_question_counts_as_often_as_it_is_said(braid: Braid, own: str) -> None:
    made_of(braid)
    fill(braid, "notes", ["apple pear", "apple", "pear plum"])
    once, twice = branch(braid, "apple"), branch(braid, "apple apple")
    assert {k: 2 * v for k, v in once.items()} == pytest.approx(twice, rel=1e-6)


def test_scores_hold_under_a_filter(braid: Braid, own: str) -> None:
    made_of(braid)
    fill(braid, "notes", sentences(4, 120, 30))
    for question in ("w1 w2", "w33 w1"):
        found = branch(braid, question, filter={"n": {"lt": 40}})
        agree(found, expected(own, braid, ["notes"], question, passing=lambda m: m["n"] < 40))


def test_scores_hold_for_each_tenant(braid: Braid, own: str) -> None:
    made_of(braid, tenants=True)
    fill(braid, "notes", sentences(5, 50, 30))
    fill(braid, "notes", sentences(6, 50, 30), tenant="acme")
    for tenant in ("", "acme", "nobody"):
        agree(branch(braid, "w1 w9", tenant=tenant), expected(own, braid, ["notes"], "w1 w9", tenant))


@pytest.mark.parametrize("seed", [7, 8])
def test_scores_hold_after_changes_and_deletions(braid: Braid, own: str, seed: int) -> None:
    made_of(braid)
    chance = random.Random(seed)
    fill(braid, "notes", sentences(seed, 60, 20))
    for _ in range(4):
        texts = chance.sample([*sentences(seed + 10, 40, 90), *chinese(seed, 20)], 15)
        braid.ingest("notes", [Document(f"d{chance.randrange(60)}", t, metadata={"n": 1}) for t in texts])
        braid.delete("notes", [f"d{chance.randrange(60)}" for _ in range(5)])
    braid.refresh_words("notes", exact=True)
    for question in ("w1 w2", "审批流程", "w20 w3"):
        agree(branch(braid, question), expected(own, braid, ["notes"], question))


def test_collections_of_one_analysis_share_what_a_word_is_worth(braid: Braid, own: str) -> None:
    for name, seed in (("a", 20), ("b", 21)):
        made_of(braid, name)
        fill(braid, name, sentences(seed, 40, 30))
    fill(braid, "b", ["rare only here w1"])
    for question in ("w1 w5", "rare w1"):
        agree(branch(braid, question), expected(own, braid, ["a", "b"], question))
        agree(branch(braid, question, collections="a"), expected(own, braid, ["a"], question))


def test_words_that_two_writers_met_at_once_count_together(braid: Braid, own: str) -> None:
    """Each writer gives a new word an id of its own; the question weighs both."""
    known = made_of(braid)
    fill(braid, "notes", ["apple pear", "plum"])
    with psycopg.connect(own) as connection:
        connection.execute(
            "INSERT INTO pgbraid.lexeme (collection_id, word) VALUES (%s, 'apple'), (%s, 'pear')", (known.id, known.id)
        )
    braid.ingest("notes", [Document("more", "apple apple plum")])
    braid.refresh_words("notes", exact=True)
    agree(branch(braid, "apple pear"), expected(own, braid, ["notes"], "apple pear"))


def test_the_average_length_follows_when_chunks_become_longer(braid: Braid) -> None:
    made_of(braid)
    fill(braid, "notes", ["one two"] * 3)
    assert braid.collection("notes").average_length == pytest.approx(2)
    braid.ingest("notes", [Document(f"long{i}", "one two three four five six seven eight") for i in range(30)])
    assert braid.collection("notes").average_length > 7  # moved by itself: far more than a tenth
    assert not braid.refresh_words("notes", exact=True).reweighed


def test_a_language_that_the_server_does_not_know_is_refused(braid: Braid) -> None:
    for language in ("klingon!", "a b", "x'; --"):
        with pytest.raises(SettingsError):
            made_of(braid, language=language)
