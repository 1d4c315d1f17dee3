"""Choosing by scores: thresholds, margins, how many, and what stands for many examples."""

from __future__ import annotations

import numpy as np
import pytest

from pgbraid.errors import NothingToSearch
from pgbraid.route import RouteMatch, by_policy, by_step
from pgbraid.selectors import Ready, Selector, by_route, failed, judge, prototypes, text_hash
from pgbraid.values import EmbedderRecord, Step

RECORD = EmbedderRecord("h", "hashing", "hashing", 4, fingerprint="f1")
SCORES = [("leave", 0.8), ("pay", 0.75), ("code", 0.2)]


def judged(scores: list[tuple[str, float]] = SCORES, **settings: object) -> Step:
    return judge(Ready(Selector("semantic", embedder="h", **settings), RECORD), scores)  # type: ignore[arg-type]


def test_the_best_route_is_chosen_and_everything_it_was_chosen_by_is_recorded() -> None:
    step = judged(threshold=0.5)
    assert (step.outcome, step.routes, step.policy) == ("chosen", ("leave",), None)
    assert (step.scores, step.threshold, step.margin, step.version) == (tuple(SCORES), 0.5, 0.0, "f1")


def test_a_score_that_equals_the_threshold_reaches_it() -> None:
    assert judged(threshold=0.8).routes == ("leave",)


def test_below_the_threshold_nobody_is_chosen_and_the_policy_says_what_then() -> None:
    step = judged(threshold=0.81, unsure="all")
    assert (step.outcome, step.routes, step.policy) == ("unsure", (), "all")
    assert step.reason == "best leave 0.8000 is under 0.81"


def test_routes_within_the_margin_are_chosen_together() -> None:
    assert judged(margin=0.06, max_routes=2).routes == ("leave", "pay")


def test_more_routes_within_the_margin_than_may_be_is_unsure_not_cut() -> None:
    step = judged(margin=0.06)
    assert (step.outcome, step.routes, step.policy) == ("unsure", (), "next")


def test_a_tie_does_not_depend_on_the_order_of_names() -> None:
    assert judged([("a", 0.5), ("b", 0.5)]).outcome == "unsure"


def test_the_threshold_holds_for_the_second_route_too() -> None:
    assert judged(margin=0.5, threshold=0.78, max_routes=3).routes == ("leave",)


def test_a_negative_best_is_still_a_score() -> None:
    assert judged([("a", -0.2), ("b", -0.4)], threshold=-1.0).routes == ("a",)


def test_without_any_score_the_step_is_empty() -> None:
    assert judged([]).outcome == "empty"


def test_a_selector_that_failed_says_so_with_its_own_policy() -> None:
    step = failed(Ready(Selector("semantic", embedder="h", failed="none", unsure="all"), RECORD), "no model")
    assert (step.outcome, step.policy, step.reason, step.scores) == ("failed", "none", "no model", ())


def test_a_step_never_asks_what_may_not_be_read() -> None:
    routes = [RouteMatch("pay", 0, None, ("hr", "secret"), False, (), False)]
    step = judged([("pay", 0.9)])
    decision = by_step(step, routes, ["hr", "legal"])
    assert decision.chosen == ("hr",)
    assert {c.name: c.score for c in decision.candidates} == {"hr": 0.9, "legal": None}


def test_by_policy_error_the_selector_that_failed_is_named() -> None:
    with pytest.raises(NothingToSearch, match="selector semantic failed"):
        by_policy([], "error", ["hr"], "selector semantic failed (no model)")


def test_few_examples_stand_for_themselves_each_once() -> None:
    few = prototypes(np.array([[2, 0], [0, 3], [4, 0]], dtype=np.float32), 8)
    assert sorted(map(tuple, few.tolist())) == [(0.0, 1.0), (1.0, 0.0)]


def test_many_examples_become_the_middles_of_their_groups() -> None:
    chance = np.random.default_rng(1)
    middles = np.eye(3, 16)
    many = np.concatenate([m + chance.normal(0, 0.05, (40, 16)) for m in middles]).astype(np.float32)
    few = prototypes(many, 3)
    assert few.shape == (3, 16) and few.dtype == np.float32
    assert np.allclose(np.linalg.norm(few, axis=1), 1, atol=1e-5)
    assert sorted(np.argmax(few @ middles.T, axis=1).tolist()) == [0, 1, 2]
    assert (np.max(few @ middles.T, axis=1) > 0.95).all()


def test_the_order_of_examples_does_not_change_what_stands_for_them() -> None:
    many = np.random.default_rng(2).normal(size=(60, 8)).astype(np.float32)
    assert np.array_equal(prototypes(many, 5), prototypes(many[::-1], 5))


def test_a_route_without_texts_has_no_prototypes() -> None:
    vectors = {text_hash("a"): np.array([1, 0], dtype=np.float32)}
    assert by_route({"one": ["a"], "none": []}, vectors, 3).keys() == {"one"}
