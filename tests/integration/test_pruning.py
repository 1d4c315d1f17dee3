"""A pruned lexical search against BM25 of every chunk: the same best ones, the same scores, ties by key."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest

from fix_braid import made_of, sentences
from fix_words import agree, expected, fill
from pgbraid import Braid, prune
from pgbraid._sync import catalog
from pgbraid._sync.link import Database
from pgbraid.compose import branch_statements
from pgbraid.lexical import weigh
from pgbraid.plan import make_plan
from pgbraid.values import Profile

QUESTIONS = (
    "w1 w2",
    "w1 w7 w30 w3",
    "w1 w1 w2 w50",
    " ".join(f"w{n}" for n in range(45)),
    "w59 w58 nobodywrotethis w2 w4",
)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prune small collections too."""
    monkeypatch.setattr(prune, "PRUNE_FROM", 0)
    monkeypatch.setattr(prune, "EXPECTED", 3)


def best(dsn: str, braid: Braid, question: str, top: int, **others: Any) -> tuple[dict[Any, float], bool]:
    """The first of one lexical branch by (collection, document, ordinal), in order, and whether it was pruned."""
    known = braid.collection("notes")
    with Database(braid.settings).link() as link:
        look = catalog.look_up(link, question)
        words = weigh(look.words, [known])
        profile = Profile(
            dense_weight=0.0, candidates=top, top_k=min(top, 5), lexical_threshold=others.get("threshold")
        )
        plan = make_plan([known], words, profile, tenant=others.get("tenant", ""), condition=others.get("condition"))
        one = branch_statements(plan, {}, link.facts.vector_schema)[0]
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT set_config('pgbraid.upkeep', 'on', true)")
        found = connection.execute(one.statement.text.encode(), one.params).fetchall()
        names = dict(
            connection.execute(f"SELECT id, external_id FROM pgbraid.{known.document_table}".encode()).fetchall()
        )
    ordered = sorted(found, key=lambda r: r[2])
    assert [r[2] for r in ordered] == list(range(1, len(found) + 1))
    assert [(-r[3], r[0], r[1]) for r in ordered] == sorted((-r[3], r[0], r[1]) for r in ordered)
    return {("notes", names[r[0]], r[1]): r[3] for r in ordered}, words[known.id].ladder is not None


def agree_on_the_best(found: dict[Any, float], wanted: dict[Any, float], top: int) -> None:
    """Scores as they should be, and every chunk that is clearly above the last of them among those found."""
    scores = sorted(wanted.values(), reverse=True)[:top]
    assert len(found) == len(scores)
    assert list(found.values()) == pytest.approx(scores, rel=1e-5)
    agree(found, {key: wanted[key] for key in found})
    assert {key for key, score in wanted.items() if scores and score > scores[-1] * (1 + 1e-5)} <= found.keys()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("top", [5, 40])
def test_the_best_are_those_of_bm25(braid: Braid, own: str, always: None, seed: int, top: int) -> None:
    made_of(braid)
    fill(braid, "notes", [*sentences(seed, 150, 12), *sentences(seed, 50, 3), *["w1 w2 w7"] * 9])
    pruned = []
    for question in QUESTIONS:
        found, was = best(own, braid, question, top)
        agree_on_the_best(found, expected(own, braid, ["notes"], question), top)
        pruned.append(was)
    assert any(pruned)


def test_the_best_hold_for_tenants_under_filters_and_thresholds(braid: Braid, own: str, always: None) -> None:
    made_of(braid, tenants=True)
    fill(braid, "notes", sentences(4, 90, 12))
    fill(braid, "notes", sentences(5, 60, 12), tenant="acme")
    for question in QUESTIONS:
        wanted = expected(own, braid, ["notes"], question, "acme", lambda m: m["n"] < 20)
        found, _ = best(own, braid, question, 5, tenant="acme", condition='$."n" < 20')
        agree_on_the_best(found, wanted, 5)
        if wanted:
            middle = sorted(wanted.values())[len(wanted) // 2] * (1 - 1e-6)
            found, _ = best(own, braid, question, 5, tenant="acme", condition='$."n" < 20', threshold=middle)
            agree_on_the_best(found, {k: v for k, v in wanted.items() if v >= middle}, 5)


def test_the_best_hold_after_changes_and_deletions(braid: Braid, own: str, always: None) -> None:
    made_of(braid)
    chance = random.Random(6)
    fill(braid, "notes", sentences(6, 120, 12))
    braid.delete("notes", [f"d{chance.randrange(120)}" for _ in range(40)])
    fill(braid, "notes", sentences(7, 30, 20))
    for question in QUESTIONS:
        agree_on_the_best(best(own, braid, question, 5)[0], expected(own, braid, ["notes"], question), 5)


def test_a_search_gives_the_same_passages_pruned_or_not(braid: Braid, monkeypatch: pytest.MonkeyPatch) -> None:
    made_of(braid)
    fill(braid, "notes", sentences(8, 200, 12))
    plain = [braid.search(q, dense_weight=0, top_k=5, candidates=5).passages for q in QUESTIONS]
    monkeypatch.setattr(prune, "PRUNE_FROM", 0)
    monkeypatch.setattr(prune, "EXPECTED", 3)
    assert plain == [braid.search(q, dense_weight=0, top_k=5, candidates=5).passages for q in QUESTIONS]
