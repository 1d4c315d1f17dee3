"""Who is asked, and why: routes by priority, the caller's names, and the policy when no route matches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgbraid.errors import NoSuchCollection, NothingToSearch
from pgbraid.route import RouteMatch, decide

READABLE = ["hr", "legal", "tech"]


def match(
    name: str, *collections: str, priority: int = 0, matched: bool = True, profile: str | None = None
) -> RouteMatch:
    patterns = (f"{name} word",) if matched else ()
    return RouteMatch(name, priority, profile, collections, matched, patterns, is_default=False)


def test_the_collections_of_the_route_that_matches_are_asked() -> None:
    decision = decide([match("leave", "hr"), match("code", "tech", matched=False)], "all", READABLE)
    assert (decision.selector, decision.chosen, decision.policy) == ("rules", ("hr",), None)
    assert decision.reason == "route leave matched 'leave word'"


def test_of_routes_that_match_only_the_highest_priority_counts() -> None:
    decision = decide(
        [match("a", "hr", priority=1), match("b", "legal", priority=7), match("c", "tech")], "all", READABLE
    )
    assert decision.chosen == ("legal",)


def test_a_tie_asks_the_collections_of_all() -> None:
    decision = decide([match("c", "tech"), match("b", "hr", "tech"), match("a", "legal")], "all", READABLE)
    assert decision.chosen == ("hr", "legal", "tech")
    assert decision.reason == "route a matched 'a word'; route b matched 'b word'; route c matched 'c word'"


@pytest.mark.parametrize(
    ("one", "other", "taken"), [("fine", "fine", "fine"), ("fine", "quick", None), ("fine", None, None)]
)
def test_in_a_tie_a_profile_counts_when_all_agree_on_it(one: str, other: str | None, taken: str | None) -> None:
    routes = [match("a", "hr", profile=one), match("b", "legal", profile=other)]
    assert decide(routes, "all", READABLE).profile == taken


def test_the_order_of_the_routes_does_not_matter() -> None:
    routes = [match("c", "tech", profile="fine"), match("b", "hr", profile="quick"), match("a", "legal")]
    assert decide(routes, "all", READABLE) == decide(routes[::-1], "all", READABLE)


def test_a_losing_route_gives_no_profile() -> None:
    routes = [match("low", "hr", profile="quick"), match("high", "hr", priority=1)]
    assert decide(routes, "all", READABLE).profile is None


def test_every_readable_collection_is_a_candidate_with_what_spoke_for_it() -> None:
    decision = decide([match("leave", "hr", "tech"), match("code", "tech", priority=1)], "all", READABLE)
    assert {c.name: c.matched for c in decision.candidates} == {
        "hr": ("leave: leave word",),
        "legal": (),
        "tech": ("leave: leave word", "code: code word"),
    }


def test_a_route_that_matches_by_the_absence_of_words_says_so() -> None:
    decision = decide([replace(match("rest", "hr"), patterns=())], "all", READABLE)
    assert decision.reason == "route rest matched the absence of its words"
    assert decision.candidates[0].matched == ("rest: (no word of its own)",)


def test_what_a_role_may_not_read_is_neither_asked_nor_named() -> None:
    decision = decide([match("pay", "hr", "secret")], "all", READABLE)
    assert decision.chosen == ("hr",)
    assert "secret" not in repr(decision)


def test_a_route_of_which_nothing_may_be_read_does_not_count() -> None:
    routes = [match("pay", "secret", priority=9), match("leave", "hr")]
    assert decide(routes, "all", READABLE).chosen == ("hr",)
    assert decide(routes[:1], "all", READABLE).policy == "all"


def test_names_of_the_caller_come_before_any_route() -> None:
    decision = decide([match("code", "tech", priority=9)], "error", READABLE, ["legal", "hr"])
    assert (decision.selector, decision.chosen, decision.policy) == ("caller", ("legal", "hr"), None)
    assert decision.reason == "the caller named legal, hr"
    assert [c.matched for c in decision.candidates] == [("named",), ("named",), ()]


def test_an_alias_means_its_collection_and_two_names_of_one_ask_it_once() -> None:
    decision = decide([], "all", READABLE, ["法务", "legal"], {"法务": "legal"})
    assert decision.chosen == ("legal",)


def test_a_name_goes_before_an_alias_that_is_called_the_same() -> None:
    assert decide([], "all", READABLE, ["hr"], {"hr": "legal"}).chosen == ("hr",)


def test_an_unknown_name_is_an_error_that_hints_at_the_nearest() -> None:
    with pytest.raises(NoSuchCollection, match="Did you mean 'legal'"):
        decide([], "all", READABLE, ["leagl"])
    with pytest.raises(NoSuchCollection, match="法务部") as caught:
        decide([], "all", READABLE, ["nowhere"], {"法务部": "legal", "geheim": "secret"})
    assert "geheim" not in str(caught.value)


def test_an_alias_of_what_may_not_be_read_is_unknown() -> None:
    with pytest.raises(NoSuchCollection) as caught:
        decide([], "all", READABLE, ["geheim"], {"geheim": "secret"})
    assert "geheim" not in caught.value.known and "secret" not in caught.value.known


@pytest.mark.parametrize(("policy", "chosen"), [("all", ("hr", "legal", "tech")), ("none", ())])
def test_when_no_route_matches_the_policy_decides(policy: str, chosen: tuple[str, ...]) -> None:
    decision = decide([match("code", "tech", matched=False)], policy, READABLE)
    assert (decision.selector, decision.chosen, decision.policy) == ("default", chosen, policy)
    assert decision.reason == f"no route matched, so the default policy {policy!r} decided"


def test_without_any_route_the_reason_says_that() -> None:
    assert decide([], "all", READABLE).reason == "no route is declared, so the default policy 'all' decided"


def test_by_policy_error_no_match_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(NothingToSearch, match="Name a collection, or declare another default"):
        decide([match("code", "tech", matched=False)], "error", READABLE)


def test_by_policy_route_the_default_routes_collections_are_asked_with_its_profile() -> None:
    default = replace(match("rest", "hr", "secret", matched=False, profile="quick"), is_default=True)
    decision = decide([match("code", "tech", matched=False), default], "route", READABLE)
    assert (decision.chosen, decision.policy, decision.profile) == (("hr",), "route", "quick")
    assert decision.reason == "no route matched, so the default policy 'route' decided: hr"
    assert "secret" not in repr(decision)


def test_a_default_route_whose_collections_may_not_be_read_asks_nothing() -> None:
    default = replace(match("rest", "secret", matched=False), is_default=True)
    decision = decide([default], "route", READABLE)
    assert (decision.chosen, decision.policy) == ((), "route")
