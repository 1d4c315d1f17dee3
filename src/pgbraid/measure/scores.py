"""Scores of answers against grades, by ir-measures; the unit is the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgbraid.errors import MissingExtra, SettingsError
from pgbraid.measure.values import Grades

MEASURES = ("nDCG@10", "R@10", "RR@10", "AP@10")


def per_question(
    grades: Mapping[str, Grades], answers: Mapping[str, Sequence[str]], measure: str = MEASURES[0]
) -> dict[str, float]:
    """The score of every question that has an answer, by question id; an empty answer scores 0.

    `measure` is a name of ir-measures, as nDCG@10, R@10, RR@10 or AP@10. Raises MissingExtra, SettingsError.
    """
    library = _library()
    try:
        wanted = library.parse_measure(measure)
    except (NameError, ValueError, SyntaxError) as error:
        raise SettingsError(f"{measure!r} is no measure of ir-measures: {error}") from None
    run = {
        question: {document: float(len(found) - place) for place, document in enumerate(found)}
        for question, found in answers.items()
    }
    judged = {question: dict(grades[question]) for question in answers}
    scores = dict.fromkeys(answers, 0.0)
    scores |= {one.query_id: float(one.value) for one in library.iter_calc([wanted], judged, run)}
    return scores


def mean(scores: Mapping[str, float]) -> float:
    """The mean over questions; 0 for none."""
    return sum(scores.values()) / len(scores) if scores else 0.0


def _library() -> Any:
    try:
        import ir_measures
    except ImportError:
        raise MissingExtra("Measuring", "eval") from None
    return ir_measures
