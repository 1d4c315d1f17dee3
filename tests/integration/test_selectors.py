"""The chain of selectors: who chooses, by which scores, and what happens when nobody does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

import pgbraid
from fix_braid import documents, made_of, rows, with_function
from pgbraid import Braid, Decision
from pgbraid.embed import from_callable
from pgbraid.errors import CatalogError, ModelError, NothingToSearch, SettingsError, UnknownOption

WORDS = ("holiday", "contract", "server", "salary")
ROUTES: dict[str, Any] = {
    "people": {"collections": ["hr"], "examples": ["holiday", "holiday salary"], "match": {"any": ["leave"]}},
    "contracts": {"collections": ["legal"], "examples": ["contract"], "profile": "short"},
    "systems": {"collections": ["tech"], "description": "server"},
}
PROFILES = {"short": {"top_k": 1}}


class Counting:
    """A vector that counts four words, and how many texts were embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return np.array([[t.count(w) for w in WORDS] + [0.01] for t in texts], dtype=np.float32)


def applied(braid: Braid, *selectors: Any, routes: dict[str, Any] = ROUTES, default: Any = "none") -> None:
    chain = selectors or ("rules", {"semantic": {"embedder": "words", "threshold": 0.6}})
    braid.apply({"profiles": PROFILES, "routes": routes, "selectors": list(chain), "default": default})


@pytest.fixture
def counting(braid: Braid) -> Counting:
    """`braid` with the collections hr, legal and tech and the embedder `words`."""
    function = Counting()
    with_function(braid, "words", function, 5)
    for name in ("hr", "legal", "tech"):
        made_of(braid, name)
        braid.ingest(name, documents({"one": f"something about {name}"}))
    return function


def test_rules_go_first_and_semantic_is_asked_only_when_they_do_not_match(braid: Braid, counting: Counting) -> None:
    applied(braid)
    counting.texts.clear()
    decision = braid.route("leave for a contract")
    assert (decision.selector, decision.chosen, [s.selector for s in decision.steps]) == ("rules", ("hr",), ["rules"])
    assert counting.texts == []


def test_a_question_like_an_example_goes_to_its_route_with_its_profile(braid: Braid, counting: Counting) -> None:
    applied(braid)
    decision = braid.route("is my contract valid")
    assert (decision.selector, decision.chosen, decision.profile) == ("semantic", ("legal",), "short")
    assert [(s.selector, s.outcome) for s in decision.steps] == [("rules", "empty"), ("semantic", "chosen")]
    scores = dict(decision.steps[1].scores)
    assert scores["contracts"] == pytest.approx(1.0) and scores["people"] < 0.1
    assert {c.name: c.score for c in decision.candidates}["legal"] == pytest.approx(1.0)
    assert len(braid.search("is my contract valid").passages) == 1


def test_a_description_is_an_example(braid: Braid, counting: Counting) -> None:
    applied(braid)
    assert braid.route("the server is down").chosen == ("tech",)


@pytest.mark.parametrize(("default", "chosen"), [("none", ()), ("all", ("hr", "legal", "tech")), (["tech"], ("tech",))])
def test_a_question_like_none_of_them_is_left_to_the_default(
    braid: Braid, counting: Counting, default: Any, chosen: tuple[str, ...]
) -> None:
    applied(braid, default=default)
    decision = braid.route("what a nice day")
    assert (decision.selector, decision.chosen) == ("default", chosen)
    assert "selector semantic was not sure" in decision.reason


def test_a_selector_has_its_own_policy_for_not_being_sure(braid: Braid, counting: Counting) -> None:
    applied(braid, {"semantic": {"embedder": "words", "threshold": 0.6, "unsure": "all"}}, "rules")
    decision = braid.route("what a nice day of leave")
    assert (decision.chosen, decision.policy, len(decision.steps)) == (("hr", "legal", "tech"), "all", 1)
    applied(braid, {"semantic": {"embedder": "words", "threshold": 0.6, "unsure": "error"}})
    with pytest.raises(NothingToSearch, match="selector semantic was not sure"):
        braid.route("what a nice day")


def test_the_chain_goes_on_after_semantic(braid: Braid, counting: Counting) -> None:
    applied(braid, {"semantic": {"embedder": "words", "threshold": 0.6}}, "rules")
    decision = braid.route("what a nice day of leave")
    assert (decision.selector, decision.chosen) == ("rules", ("hr",))
    assert [s.outcome for s in decision.steps] == ["unsure", "chosen"]


def test_two_routes_as_near_are_both_asked_or_neither(braid: Braid, counting: Counting) -> None:
    near = {"embedder": "words", "threshold": 0.6, "margin": 0.2}
    applied(braid, {"semantic": {**near, "max_routes": 2}})
    assert braid.route("a contract for the server").chosen == ("legal", "tech")
    applied(braid, {"semantic": near})
    assert braid.route("a contract for the server").chosen == ()


def test_examples_are_embedded_once_whatever_is_asked_and_applied(braid: Braid, counting: Counting) -> None:
    applied(braid)
    assert sorted(counting.texts) == ["contract", "holiday", "holiday salary", "server"]
    counting.texts.clear()
    applied(braid)
    more = {**ROUTES, "contracts": {**ROUTES["contracts"], "examples": ["contract", "contract salary"]}}
    applied(braid, routes=more)
    assert counting.texts == ["contract salary"]


def test_applying_again_changes_nothing(braid: Braid, counting: Counting) -> None:
    applied(braid)
    file = {"routes": ROUTES, "selectors": ["rules", {"semantic": {"embedder": "words", "threshold": 0.6}}]}
    assert braid.apply(file).empty


def test_what_no_route_says_any_more_is_forgotten(braid: Braid, own: str, counting: Counting) -> None:
    applied(braid)
    applied(braid, routes={"contracts": ROUTES["contracts"]})
    assert rows(own, "SELECT count(*) FROM pgbraid.route_vector") == [(1,)]
    assert braid.route("holiday").chosen == ()
    applied(braid, "rules")
    assert rows(own, "SELECT count(*) FROM pgbraid.route_prototype, pgbraid.route_vector") == [(0,)]


def test_a_dry_run_learns_nothing(braid: Braid, own: str, counting: Counting) -> None:
    file = {"profiles": PROFILES, "routes": ROUTES, "selectors": [{"semantic": {"embedder": "words"}}]}
    assert not braid.apply(file, dry_run=True).empty
    assert rows(own, "SELECT count(*) FROM pgbraid.route_vector") == [(0,)]


def test_a_route_that_is_disabled_is_not_a_candidate(braid: Braid, counting: Counting) -> None:
    applied(braid, routes={**ROUTES, "contracts": {**ROUTES["contracts"], "enabled": False}})
    decision = braid.route("contract")
    assert decision.chosen == () and "contracts" not in dict(decision.steps[1].scores)


def test_a_route_whose_collections_a_role_may_not_read_is_not_a_candidate(
    braid: Braid, own: str, counting: Counting
) -> None:
    applied(braid)
    with psycopg.connect(own) as connection:
        connection.execute("CREATE ROLE pgbraid_test_router")
    try:
        assert "contracts" not in dict(_as_router(own, braid, counting).steps[1].scores)
    finally:
        with psycopg.connect(own) as connection:
            connection.execute("DROP OWNED BY pgbraid_test_router; DROP ROLE pgbraid_test_router")


def _as_router(dsn: str, braid: Braid, counting: Counting) -> Decision:
    """What a role decides that may read all but the tables of `legal`."""
    legal = next(c for c in braid.collections() if c.name == "legal")
    with psycopg.connect(dsn) as connection:
        connection.execute("GRANT USAGE ON SCHEMA pgbraid TO pgbraid_test_router")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO pgbraid_test_router")
        for table in (legal.chunk_table, legal.document_table):
            connection.execute(f"REVOKE SELECT ON pgbraid.{table} FROM pgbraid_test_router".encode())
        connection.commit()
        connection.execute("SET ROLE pgbraid_test_router")
        decision = braid.using(connection).route("contract")
        connection.rollback()
    assert decision.chosen == ()
    return decision


@pytest.mark.parametrize(("reply", "chosen"), [("next", ()), ("all", ("hr", "legal", "tech"))])
def test_a_model_that_fails_ends_in_the_policy_and_is_reported(
    braid: Braid, own: str, counting: Counting, reply: str, chosen: tuple[str, ...]
) -> None:
    applied(braid, {"semantic": {"embedder": "words", "failed": reply}})

    def broken(texts: Sequence[str]) -> Any:
        raise RuntimeError("the model is gone")

    with pgbraid.connect(own) as other:
        other.register_embedder("words", from_callable(broken, 5, "words"))
        decision = other.route("contract")
        assert (decision.chosen, decision.steps[0].outcome) == (chosen, "failed")
        assert "the model is gone" in decision.reason
        result = other.search("contract")
        assert result.degraded and result.failures[0].part == "selector semantic"


def test_an_example_of_which_the_embedder_knows_no_word_is_refused(braid: Braid) -> None:
    made_of(braid, "hr")
    with_function(braid, "zero", lambda texts: np.zeros((len(texts), 4), dtype=np.float32))
    file = {
        "routes": {"people": {"collections": ["hr"], "examples": ["xyzzy"]}},
        "selectors": [{"semantic": {"embedder": "zero"}}],
    }
    with pytest.raises(ModelError, match="xyzzy"):
        braid.apply(file)


def test_an_embedder_that_a_selector_uses_cannot_be_dropped(braid: Braid, counting: Counting) -> None:
    applied(braid)
    with pytest.raises(CatalogError, match="used by a selector"):
        braid.drop_embedder("words")


@pytest.mark.parametrize(
    ("selectors", "error", "said"),
    [
        (["rulez"], SettingsError, "a selector is rules or"),
        (["rules", "rules"], SettingsError, "twice"),
        ([], SettingsError, "at least 1"),
        ([{"semantic": {}}], SettingsError, "embedder"),
        ([{"semantic": {"embedder": "wrods"}}], SettingsError, "Did you mean 'words'"),
        ([{"semantic": {"embedder": "words", "treshold": 1}}], SettingsError, "Did you mean 'threshold'"),
        ([{"semantic": {"embedder": "words", "threshold": 1.5}}], SettingsError, "threshold"),
        ([{"semantic": {"embedder": "words", "max_routes": 0}}], SettingsError, "max_routes"),
        ([{"semantic": {"embedder": "words", "nearest": 9}}], SettingsError, "at most prototypes"),
        ([{"semantic": {"embedder": "words", "unsure": "whatever"}}], SettingsError, "unsure"),
    ],
)
def test_a_chain_that_could_fail_at_a_question_is_refused_when_declared(
    braid: Braid, counting: Counting, selectors: list[Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        braid.apply({"selectors": selectors})


def test_a_route_with_nothing_to_go_by_is_refused(braid: Braid, counting: Counting) -> None:
    with pytest.raises(SettingsError, match="examples or a description"):
        braid.apply({"routes": {"people": {"collections": ["hr"]}}})
    with pytest.raises(UnknownOption, match="example"):
        braid.apply({"routes": {"people": {"collections": ["hr"], "exampels": ["x"]}}})
