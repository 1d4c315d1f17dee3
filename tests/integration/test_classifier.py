"""The classifier in the database: trained, stored, activated, asked, taken back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fix_braid import documents, made_of, rows, with_function
from pgbraid import Braid
from pgbraid.classifier import scaled
from pgbraid.errors import CatalogError, NoSuchRoute, SettingsError
from pgbraid.measure.values import Labelled

WORDS = ("holiday", "contract", "server", "rain")
ROUTES: dict[str, Any] = {
    "people": {"collections": ["hr"], "examples": ["holiday", "holiday please", "my holiday"]},
    "contracts": {"collections": ["legal"], "examples": ["contract", "contract please", "my contract"]},
    "systems": {"collections": ["tech"], "examples": ["server", "server please", "my server"]},
}
LABELLED = [
    Labelled(f"{before}{word}{after}", own)
    for word, own in zip(WORDS, (("people",), ("contracts",), ("systems",), ()), strict=True)
    for before in ("", "my ", "a ", "the ", "his ")
    for after in ("", " now", " today", " tomorrow", " please")
]
CHAIN = ["rules", {"classifier": {"threshold": 0.5}}]


def counted(texts: Any) -> Any:
    """Vectors that count four words, longer ones for longer texts."""
    return np.array([[t.count(w) * len(t) for w in WORDS] + [0.01] for t in texts], dtype=np.float32)


@pytest.fixture
def routed(braid: Braid) -> Braid:
    """`braid` with the collections hr, legal and tech, the embedder `words` and routes to them."""
    with_function(braid, "words", counted, 5)
    for name in ("hr", "legal", "tech"):
        made_of(braid, name)
        braid.ingest(name, documents({"one": f"something about {name}"}))
    braid.apply({"routes": ROUTES, "default": "none"})
    return braid


@pytest.fixture
def deciding(routed: Braid) -> Braid:
    """`routed` with a version that decides."""
    routed.activate_classifier(routed.train_classifier(LABELLED, embedder="words").id)
    routed.apply({"selectors": CHAIN})
    return routed


def test_a_question_goes_where_it_was_learned_to_go(deciding: Braid) -> None:
    decision = deciding.route("is my contract valid")
    step = decision.steps[1]
    assert (decision.selector, decision.chosen) == ("classifier", ("legal",))
    assert (step.outcome, step.routes, step.version) == ("chosen", ("contracts",), "1")
    assert step.scores[0][1] > 0.5
    assert deciding.search("is my contract valid").passages[0].collection == "legal"


def test_a_question_like_those_of_no_route_goes_nowhere(deciding: Braid) -> None:
    decision = deciding.route("will there be rain")
    assert (decision.chosen, decision.steps[1].outcome) == ((), "unsure")
    assert "none of these" in decision.reason


def test_sql_says_the_same_probabilities_as_the_arithmetic(deciding: Braid, own: str) -> None:
    question = "holiday contract server"
    stored = rows(
        own,
        "SELECT r.name, w.weights::real[], w.bias FROM pgbraid.classifier_weight AS w "
        "LEFT JOIN pgbraid.route AS r ON r.id = w.route_id ORDER BY w.place",
    )
    logits = np.array([np.dot(w, scaled(counted([question]))[0]) + b for _, w, b in stored])
    powers = np.exp(logits - logits.max())
    expected = {name: p for (name, _, _), p in zip(stored, powers / powers.sum(), strict=True) if name}
    assert dict(deciding.route(question).steps[1].scores) == pytest.approx(expected, abs=1e-4)


def test_the_question_is_embedded_once_for_deciding_and_costs_one_trip_more(deciding: Braid) -> None:
    assert deciding.search("contract").trace.round_trips == 3


def test_without_a_file_the_examples_of_the_routes_are_learned(routed: Braid) -> None:
    version = routed.train_classifier(embedder="words")
    assert (version.report["routes"], version.report["questions"], version.active) == (3, 9, False)


def test_a_version_reports_how_good_it_is_on_questions_held_out(routed: Braid) -> None:
    report = routed.train_classifier(LABELLED, embedder="words").report
    assert (report["questions"], report["routes"], report["compared"]) == (100, 3, None)
    assert report["accuracy"] > 0.95 and report["calibration_error"] < 0.1


def test_a_version_is_compared_with_the_active_one_on_what_neither_had_seen(deciding: Braid) -> None:
    assert deciding.train_classifier(LABELLED).report["compared"] is None
    swapped = {"people": "contracts", "contracts": "people"}
    new = [Labelled(f"{x.question} indeed", tuple(swapped.get(r, r) for r in x.routes)) for x in LABELLED]
    compared = deciding.train_classifier([*LABELLED, *new]).report["compared"]
    assert (compared["version"], compared["questions"]) == (1, 100)
    assert compared["accuracy_before"] == pytest.approx(0.5)


def test_a_version_decides_only_when_activated_and_going_back_is_one_step(deciding: Braid) -> None:
    wrong = [Labelled(x.question, ("systems",) if x.routes == ("people",) else ("people",)) for x in LABELLED]
    second = deciding.train_classifier(wrong)
    assert deciding.route("holiday").chosen == ("hr",)
    deciding.activate_classifier(second.id)
    assert deciding.route("holiday").chosen == ("tech",)
    restored = deciding.activate_classifier(None)
    assert restored is not None and restored.id == 1
    assert deciding.route("holiday").chosen == ("hr",)
    assert [(v.id, v.active) for v in deciding.classifiers()] == [(2, False), (1, True)]


def test_activating_twice_leaves_one_step_back(deciding: Braid) -> None:
    deciding.activate_classifier(1)
    with pytest.raises(CatalogError, match="nothing to go back to"):
        deciding.activate_classifier(None)


def test_the_last_version_stays_while_a_selector_asks_it(deciding: Braid) -> None:
    with pytest.raises(CatalogError, match="nothing to go back to"):
        deciding.activate_classifier(None)
    deciding.apply({"selectors": ["rules"]})
    assert deciding.activate_classifier(None) is None


def test_a_chain_with_the_classifier_needs_an_active_version(routed: Braid) -> None:
    routed.train_classifier(embedder="words")
    with pytest.raises(SettingsError, match="no version of the classifier is active"):
        routed.apply({"selectors": CHAIN})


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ({"classifier": {"threshold": 1.5}}, "classifier.threshold"),
        ({"classifier": {"treshold": 0.5}}, "Did you mean 'threshold'"),
        ({"classifier": {"embedder": "words"}}, "no key 'embedder' in classifier"),
        ({"classifier": None}, "a selector is"),
    ],
)
def test_settings_of_the_classifier_are_checked_when_declared(deciding: Braid, selector: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        deciding.apply({"selectors": [selector]})


def test_labels_that_are_no_routes_are_refused_with_the_nearest(routed: Braid) -> None:
    with pytest.raises(NoSuchRoute, match="Did you mean 'people'"):
        routed.train_classifier([Labelled("x", ("peopel",)), Labelled("holiday", ("people",))], embedder="words")
    assert routed.classifiers() == ()


def test_which_embedder_must_be_said_where_there_are_two(routed: Braid) -> None:
    with pytest.raises(SettingsError, match="Say which embedder"):
        routed.train_classifier(LABELLED)


def test_a_version_that_does_not_exist_is_refused(routed: Braid) -> None:
    with pytest.raises(CatalogError, match="There are: none yet: train one"):
        routed.activate_classifier(4)


def test_a_route_that_was_dropped_or_disabled_is_not_chosen(deciding: Braid) -> None:
    deciding.apply({"routes": {k: {**v, "enabled": k != "people"} for k, v in ROUTES.items() if k != "systems"}})
    decision = deciding.route("holiday")
    assert decision.chosen == () and set(dict(decision.steps[1].scores)) == {"contracts"}


def test_the_embedder_of_the_active_version_cannot_be_dropped(deciding: Braid) -> None:
    with pytest.raises(CatalogError, match="the classifier"):
        deciding.drop_embedder("words")


def test_applying_the_chain_again_changes_nothing(deciding: Braid) -> None:
    assert deciding.apply({"selectors": CHAIN}).empty
