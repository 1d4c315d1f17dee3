"""Learning a classifier: what it learns, from whatever order, how sure it is, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgbraid.classifier import Learned, learn, probabilities, scaled
from pgbraid.errors import SettingsError
from pgbraid.measure.labelled import agreement, read_labelled
from pgbraid.measure.values import Labelled
from pgbraid.selectors import NONE, Ready, Selector, judge


def clouds(each: int = 60, spread: float = 0.6) -> tuple[Any, list[tuple[str, ...]]]:
    """Vectors around four middles that overlap, the last of which belongs to no route."""
    chance = np.random.default_rng(3)
    vectors = np.concatenate([middle + chance.normal(0, spread, (each, 8)) for middle in np.eye(4, 8)])
    names: list[tuple[str, ...]] = [("pay",), ("leave",), ("code",), ()]
    return vectors.astype(np.float32), [name for name in names for _ in range(each)]


@pytest.fixture(scope="module")
def learned() -> Learned:
    return learn(*clouds())


def accuracy(found: Learned, probable: Any, routes: Any) -> float:
    return agreement(found.labels, probable, routes).accuracy


def test_it_is_as_good_as_scikit_learn_on_the_same_vectors(learned: Learned) -> None:
    sklearn = pytest.importorskip("sklearn.linear_model")
    vectors, routes = clouds()
    labels = ["".join(own) for own in routes]
    theirs = sklearn.LogisticRegression(C=learned.penalty, tol=1e-6, max_iter=1000).fit(scaled(vectors), labels)
    logits = scaled(vectors) @ learned.weights.T + learned.biases
    expected = theirs.decision_function(scaled(vectors)) / learned.temperature
    centred = [x - x.mean(axis=1, keepdims=True) for x in (logits, expected)]
    assert np.abs(centred[0] - centred[1]).max() < 0.05


def test_questions_held_out_are_told_apart_about_as_well_as_new_ones(learned: Learned) -> None:
    chance = np.random.default_rng(9)
    new = np.concatenate([middle + chance.normal(0, 0.6, (500, 8)) for middle in np.eye(4, 8)]).astype(np.float32)
    routes: list[tuple[str, ...]] = [n for n in (("pay",), ("leave",), ("code",), ()) for _ in range(500)]
    found = accuracy(learned, probabilities(learned.weights, learned.biases, new), routes)
    held_out = accuracy(learned, learned.held_out, clouds()[1])
    assert 0.6 < found < 0.95 and abs(found - held_out) < 0.08


def test_probabilities_are_as_frequent_as_they_say(learned: Learned) -> None:
    report = agreement(learned.labels, learned.held_out, clouds()[1])
    assert report.calibration_error < 0.1
    assert np.allclose(learned.held_out.sum(axis=1), 1)


def test_the_order_of_the_questions_changes_next_to_nothing(learned: Learned) -> None:
    vectors, routes = clouds()
    again = learn(vectors[::-1], routes[::-1])
    assert again.labels == learned.labels and again.penalty == learned.penalty
    assert np.allclose(again.held_out[::-1], learned.held_out, atol=0.02)


def test_the_length_of_a_vector_says_nothing(learned: Learned) -> None:
    vectors, _ = clouds()
    once, twice = (probabilities(learned.weights, learned.biases, v) for v in (vectors, vectors * 7))
    assert np.allclose(once, twice, atol=1e-5)


def test_the_same_question_is_never_learned_from_and_held_out_at_once() -> None:
    chance = np.random.default_rng(5)
    few = chance.normal(size=(30, 40)).astype(
        np.float32
    )  # so many dimensions that everything could be learned by heart
    labels: list[tuple[str, ...]] = [(f"r{i % 2}",) for i in range(30)]
    found = learn(np.tile(few, (4, 1)), labels * 4)
    assert accuracy(found, found.held_out, labels * 4) < 0.8


def test_a_question_of_two_routes_is_given_to_both() -> None:
    chance = np.random.default_rng(6)
    vectors = np.concatenate([m + chance.normal(0, 0.1, (40, 3)) for m in ([1, 0, 0], [0, 1, 0], [1, 1, 0])])
    routes: list[tuple[str, ...]] = [n for n in (("a",), ("b",), ("a", "b")) for _ in range(40)]
    found = learn(vectors.astype(np.float32), routes)
    (both,) = probabilities(found.weights, found.biases, np.array([[1, 1, 0]], dtype=np.float32))
    assert both.min() > 0.3


def test_balanced_lets_a_rare_route_count_as_much() -> None:
    chance = np.random.default_rng(7)
    middles = np.repeat(np.eye(2), (300, 15), axis=0)
    vectors = (middles + chance.normal(0, 1, (315, 2))).astype(np.float32)
    routes: list[tuple[str, ...]] = [("often",)] * 300 + [("rare",)] * 15
    shares = []
    for balanced in (False, True):
        found = learn(vectors, routes, balanced)
        best = np.argmax(probabilities(found.weights, found.biases, vectors), axis=1)
        shares.append(float(np.mean(best == found.labels.index("rare"))))
    assert shares[0] < 0.05 < 0.15 < shares[1]


def test_fewer_than_two_routes_are_refused() -> None:
    with pytest.raises(SettingsError, match="at least two"):
        learn(np.eye(3, dtype=np.float32), [("a",)] * 3)


def test_a_single_question_a_route_is_enough_to_learn_something() -> None:
    found = learn(np.eye(2, dtype=np.float32), [("a",), ("b",)])
    assert np.argmax(probabilities(found.weights, found.biases, np.eye(2, dtype=np.float32)), axis=1).tolist() == [0, 1]


READY = Ready(Selector("classifier", threshold=0.3, margin=0.2, max_routes=3), None, 7)


def test_none_of_these_wins_over_every_route_and_says_so() -> None:
    step = judge(READY, [(NONE, 0.5), ("pay", 0.4), ("code", 0.1)])
    assert (step.outcome, step.routes, step.version) == ("unsure", (), "7")
    assert step.reason == "none of these 0.5000 is above best pay 0.4000"
    assert dict(step.scores) == {"pay": 0.4, "code": 0.1}


def test_a_route_less_probable_than_none_of_these_is_not_taken_along() -> None:
    assert judge(READY, [("pay", 0.4), (NONE, 0.35), ("code", 0.3)]).routes == ("pay",)
    assert judge(READY, [("pay", 0.4), ("code", 0.3), (NONE, 0.1)]).routes == ("pay", "code")


# ── labelled questions ─────────────────────────────────────────────────────────────────────────────────────


def test_json_lines_and_csv_say_the_same(tmp_path: Path) -> None:
    lines = [{"question": "年假?", "routes": ["leave", "pay"]}, {"question": "weather", "routes": []}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "a.csv").write_text("question,route\n年假?,leave\n年假?,pay\nweather,\n", encoding="utf-8")
    expected = [Labelled("年假?", ("leave", "pay")), Labelled("weather", ())]
    assert read_labelled(tmp_path / "a.jsonl") == read_labelled(tmp_path / "a.csv") == expected


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"question": "x"}', ":1: not an object"),
        ("a.jsonl", '{"question": "x", "routes": "leave"}', "a list"),
        ("a.jsonl", '{"question": " ", "routes": ["leave"]}', "not an object"),
        ("a.jsonl", '{"question": "x", "routes": [""]}', "not an object"),
        ("a.jsonl", "[1, 2]", "not an object"),
        ("a.jsonl", "{", "not an object"),
        ("a.jsonl", "", "no labelled question"),
        ("a.csv", "text,label\nx,y\n", "the columns are question, route"),
        ("a.csv", "question,route\nx\n", "row 2"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=said):
        read_labelled(tmp_path / name)


def test_agreement_counts_right_routes_and_overconfidence() -> None:
    probable = np.array([[0.9, 0.1, 0.0], [0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.2, 0.75, 0.05]])
    found = agreement(["", "a", "b"], probable, [(), ("a",), ("b",), ("a", "b")])
    assert (found.questions, found.accuracy) == (4, 0.75)
    assert found.macro_f1 == pytest.approx((2 / 3 + 2 / 3 + 2 / 3) / 3)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.1, 0.7, 0.8]).mean())
    assert found.calibration_error == pytest.approx((0.8 + 0.55) / 4)
