"""A classifier of questions: multinomial logistic regression over an embedder's vectors. Pure.

It learns from labelled questions. What it learns is one vector and one bias a route, so that deciding is a dot product
in SQL (`sql/route/classify.sql`).
Embedding, storing and activating are the corridor's business (`train`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgbraid.errors import MissingExtra, SettingsError
from pgbraid.values import Vectors

Numbers = NDArray[np.float64]
NONE = ""  # the label of questions that belong to no route
PENALTIES = (1.0, 10.0, 100.0)  # how much the questions count against small weights; the best is found out
FOLDS = 5
STEPS = 100  # of L-BFGS; what it gains later is in the fourth digit


@dataclass(frozen=True, slots=True)
class Learned:
    """A classifier: `weights` (labels, d) and `biases` (labels,) for vectors of length 1.

    `held_out` are the probabilities, (questions, labels), that each question got while it was left out of learning.
    """

    labels: tuple[str, ...]
    weights: Vectors
    biases: Numbers
    held_out: Numbers
    penalty: float
    temperature: float


def learn(vectors: Vectors, routes: Sequence[Sequence[str]], balanced: bool = False) -> Learned:
    """Learn from vectors (n, d) and the routes of each question; none stands for "none of these".

    The penalty is the one with the best likelihood on a fifth that was held out; probabilities are calibrated by a
    temperature (Guo et al. 2017) on five fifths held out in turn. `balanced` lets every label count as much, however
    many questions it has. The order of the questions does not matter to which are held out together, only their vectors
    do. Raises SettingsError for fewer than two labels, MissingExtra without scipy.
    """
    labels = tuple(sorted({label for own in routes for label in own or (NONE,)}))
    if len(labels) < 2:
        raise SettingsError(f"A classifier tells at least two routes apart; the labelled questions name {len(labels)}.")
    unit = scaled(vectors)
    targets = _targets(labels, routes)
    counts = _counts(targets) if balanced else np.ones(len(unit))
    folds = _folds(unit, np.argmax(targets, axis=1))
    first = folds != 0
    fits: dict[float, Numbers] = {}
    for one in PENALTIES:  # each from the last: they are near
        start = next(reversed(fits.values()), None)
        fits[one] = _fit(unit[first], targets[first], counts[first], one, start)
    penalty = min(PENALTIES, key=lambda p: _loss(_logits(fits[p], unit[~first]), targets[~first]))
    logits = np.empty(targets.shape)
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        near = fits[penalty]
        fit = near if fold == 0 else _fit(unit[~out], targets[~out], counts[~out], penalty, near)
        logits[out] = _logits(fit, unit[out])
    temperature = _temperature(logits, targets)
    weights = _fit(unit, targets, counts, penalty, fits[penalty]) / temperature
    held_out = _softmax(logits / temperature)
    return Learned(labels, weights[:, :-1].astype(np.float32), weights[:, -1], held_out, penalty, temperature)


def scaled(vectors: Vectors) -> Vectors:
    """The vectors (n, d), each of length 1."""
    unit: Vectors = np.asarray(vectors, dtype=np.float32)
    unit = unit / np.maximum(np.linalg.norm(unit, axis=-1, keepdims=True), np.float32(1e-12))
    return unit


def probabilities(weights: Vectors, biases: Numbers, vectors: Vectors) -> Numbers:
    """How probable each label is for each vector, (n, labels)."""
    return _softmax(scaled(vectors) @ weights.T + biases)


def _targets(labels: Sequence[str], routes: Sequence[Sequence[str]]) -> Numbers:
    """What the probabilities should be, (n, labels): a question of several routes belongs to each in equal parts."""
    place = {label: i for i, label in enumerate(labels)}
    targets = np.zeros((len(routes), len(labels)))
    for row, own in zip(targets, routes, strict=True):
        for label in own or (NONE,):
            row[place[label]] = 1 / len(own or (NONE,))
    return targets


def _counts(targets: Numbers) -> Numbers:
    """How much each question counts so that labels count equally; the mean is 1."""
    counts: Numbers = targets @ (1 / targets.sum(axis=0))
    counts *= len(counts) / counts.sum()
    return counts


def _folds(unit: Vectors, label: NDArray[np.int_]) -> NDArray[np.int_]:
    """Which fifth each question is in: of every label a fifth, and questions with the same vector together."""
    _, same = np.unique(unit, axis=0, return_inverse=True)
    same = same.reshape(-1)
    folds = np.zeros(len(unit), dtype=np.int_)
    start = 0
    taken: dict[int, int] = {}
    for one in np.unique(label):
        own = np.unique(same[label == one])
        for key in own[np.random.default_rng(0).permutation(len(own))]:
            if int(key) not in taken:
                taken[int(key)] = start % FOLDS
                start += 1
    folds[:] = [taken[int(key)] for key in same]
    return np.unique(folds, return_inverse=True)[1].reshape(-1)


def _fit(unit: Vectors, targets: Numbers, counts: Numbers, penalty: float, near: Numbers | None) -> Numbers:
    """Weights with the bias as last column, (labels, d + 1), of the least penalised loss; `near` is where to begin."""
    optimize = _scipy()
    questions, dimensions = unit.shape
    labels = targets.shape[1]

    def loss(flat: Numbers) -> tuple[float, Numbers]:
        held = flat.reshape(labels, dimensions + 1)
        logits = _logits(held, unit)
        top = logits.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(logits - top).sum(axis=1, keepdims=True)) + top
        value = float((counts * (log_sum[:, 0] - (targets * logits).sum(axis=1))).sum())
        wrong = counts[:, None] * (np.exp(logits - log_sum) - targets)
        slope = np.empty_like(held)
        slope[:, :-1] = wrong.T.astype(np.float32) @ unit
        slope[:, :-1] += held[:, :-1] / penalty
        slope[:, -1] = wrong.sum(axis=0)
        value += float((held[:, :-1] ** 2).sum()) / (2 * penalty)
        return value / questions, slope.ravel() / questions

    start = np.zeros((labels, dimensions + 1)) if near is None else near
    options = {"maxiter": STEPS, "gtol": 1e-5, "ftol": 1e-6}
    found = optimize.minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    fitted: Numbers = found.x.reshape(labels, dimensions + 1)
    return fitted


def _logits(held: Numbers, unit: Vectors) -> Numbers:
    logits: Numbers = (unit @ held[:, :-1].T.astype(np.float32)).astype(np.float64) + held[:, -1]
    return logits


def _softmax(logits: Numbers) -> Numbers:
    powers: Numbers = np.exp(logits - logits.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def _loss(logits: Numbers, targets: Numbers) -> float:
    return float(-(targets * np.log(np.maximum(_softmax(logits), 1e-12))).sum(axis=1).mean())


def _temperature(logits: Numbers, targets: Numbers) -> float:
    """What to divide logits by so that probabilities are as frequent as they say."""
    found = _scipy().minimize_scalar(
        lambda log: _loss(logits / np.exp(log), targets), bounds=(-3.0, 3.0), method="bounded"
    )
    return float(np.exp(found.x))


def _scipy() -> Any:
    try:
        from scipy import optimize
    except ImportError:
        raise MissingExtra("Training a classifier", "train") from None
    return optimize
