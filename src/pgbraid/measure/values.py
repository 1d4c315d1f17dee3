"""The values of measuring: judged questions, what the branches gave for one, and a run that can be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Method = Literal["dense", "lexical"]
Grades = Mapping[str, int]  # by external id; 0 is judged and not relevant


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the grades of documents by external id.

    `filter` is what its judgements are limited to; they say nothing about documents outside of it.
    """

    id: str
    text: str
    grades: Grades
    filter: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class BranchHit:
    """A chunk in a branch: its document by key and external id, its rank from 1, its raw score."""

    method: Method
    document: int
    external_id: str
    ordinal: int
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Observed:
    """What the branches of one collection gave for a question, before any fusion."""

    question: str
    hits: tuple[BranchHit, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's answer in a run: external ids, best first, and milliseconds by stage of the search."""

    documents: tuple[str, ...]
    milliseconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """A run that can be stored and compared: what was asked of which collection, the answers and the grades."""

    collection: str
    mode: str
    options: Mapping[str, Any]
    answers: Mapping[str, Answered]
    grades: Mapping[str, Grades]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question and the routes that it belongs to; none means that it belongs to no route."""

    question: str
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well probabilities agree with labels. A question is right when its most probable label is one of its own.

    `calibration_error` is the mean distance between how probable the best label was said to be and how often it was
    right, in ten bins (Naeini et al. 2015); `log_loss` is in nats a question.
    """

    questions: int
    accuracy: float
    macro_f1: float
    log_loss: float
    calibration_error: float
