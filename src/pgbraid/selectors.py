"""Selectors as data, and how scores become a choice: thresholds, margins, and what stands for a route. Pure.

`judge` turns the scores of routes into a step of a decision; `prototypes` turns many examples into few vectors. Who is
asked in which order is the corridor's business (`decide`), embedding and storing is `learn`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pgbraid.values import EmbedderRecord, Json, Step, Vectors

Reply = Literal["next", "default", "all", "none", "error"]
ROUNDS = 20  # of k-means; the groups of a few hundred examples stand still long before


@dataclass(frozen=True, slots=True)
class Selector:
    """One link of the chain. All but `kind` is for selectors that score routes.

    `threshold` is what the best route must reach; routes no further than `margin` below it are as good as it, and all
    of them are chosen unless they are more than `max_routes`. `unsure` says what is done when no route reaches the
    threshold or too many are as good, `failed` when the selector cannot score.
    """

    kind: Literal["rules", "semantic", "classifier"]
    embedder: str | None = None
    threshold: float = 0.0
    margin: float = 0.0
    max_routes: int = 1
    nearest: int = 1
    prototypes: int = 8
    unsure: Reply = "next"
    failed: Reply = "next"


@dataclass(frozen=True, slots=True)
class Ready:
    """A selector as stored, with the embedder that it needs, and the active version where it is the classifier."""

    selector: Selector
    record: EmbedderRecord | None = None
    classifier: int | None = None

    @property
    def version(self) -> str:
        """The classifier's number, else the embedder's fingerprint."""
        if self.classifier is not None:
            return str(self.classifier)
        return self.record.fingerprint if self.record else ""


_SCORING = ("threshold", "margin", "max_routes", "unsure", "failed")
SETTINGS = {"rules": (), "semantic": (*_SCORING, "nearest", "prototypes"), "classifier": _SCORING}
NONE = ""  # the name under which a selector scores "none of these"


def settings_of(selector: Selector) -> dict[str, Json]:
    """The settings that a selector of its kind has, without the embedder."""
    return {key: getattr(selector, key) for key in SETTINGS[selector.kind]}


RULES = Ready(Selector("rules"))
EMPTY = {
    "semantic": "no route that may be asked has examples or a description",
    "classifier": "no route that may be asked is one that it learned",
}
SAID = {"empty": "had nothing to choose from", "unsure": "was not sure", "failed": "failed"}


def judge(ready: Ready, scores: Sequence[tuple[str, float]]) -> Step:
    """What a selector makes of the scores of routes, given best first: a step with the routes chosen, or why none.

    A score of NONE is how well none of them fits: no route below it is chosen.
    """
    selector = ready.selector
    nothing = next((score for name, score in scores if name == NONE), None)
    scores = [(name, score) for name, score in scores if name != NONE]
    best = scores[0][1] if scores else 0.0
    least = max(selector.threshold, best - selector.margin, nothing if nothing is not None else best - selector.margin)
    near = tuple(name for name, score in scores if score >= least)
    if not scores:
        return _step(ready, scores, "empty", EMPTY[selector.kind])
    if nothing is not None and nothing > best:
        return _step(ready, scores, "unsure", f"none of these {nothing:.4f} is above best {scores[0][0]} {best:.4f}")
    if not near:
        return _step(ready, scores, "unsure", f"best {scores[0][0]} {best:.4f} is under {selector.threshold:g}")
    if len(near) > selector.max_routes:
        why = f"{len(near)} routes lie within {selector.margin:g} of {best:.4f}, and at most {selector.max_routes} may"
        return _step(ready, scores, "unsure", why)
    reason = ", ".join(f"route {name} {score:.4f}" for name, score in scores if name in near)
    return _step(ready, scores, "chosen", reason, near)


def _step(
    ready: Ready,
    scores: Sequence[tuple[str, float]],
    outcome: Literal["chosen", "empty", "unsure"],
    reason: str,
    routes: tuple[str, ...] = (),
) -> Step:
    selector = ready.selector
    return Step(
        selector=selector.kind,
        outcome=outcome,
        reason=reason,
        routes=routes,
        scores=tuple(scores),
        threshold=selector.threshold,
        margin=selector.margin,
        version=ready.version,
        policy=None if outcome == "chosen" else selector.unsure,
    )


def failed(ready: Ready, reason: str) -> Step:
    """The step of a selector that could not score."""
    return Step(ready.selector.kind, "failed", reason, version=ready.version, policy=ready.selector.failed)


def told(step: Step) -> str:
    """Why a selector did not choose, in words."""
    return f"selector {step.selector} {SAID[step.outcome]} ({step.reason})"


def text_hash(text: str) -> bytes:
    """The key of a text's vector: SHA-256 of its UTF-8."""
    return hashlib.sha256(text.encode()).digest()


def prototypes(vectors: Vectors, most: int) -> Vectors:
    """At most `most` vectors that stand for these, shapes (n, d) → (m, d): themselves, or the middles of their groups.

    Spherical k-means (Dhillon and Modha 2001) from seeds that lie far apart (Gonzalez 1985), so the same vectors give
    the same groups. Vectors are scaled to length 1.
    """
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.unique(unit, axis=0)
    if len(unit) <= most:
        return unit.astype(np.float32)
    middles = unit[_seeds(unit, most)]
    for _ in range(ROUNDS):
        group = np.argmax(unit @ middles.T, axis=1)
        moved = np.stack([unit[group == i].mean(axis=0) if (group == i).any() else middles[i] for i in range(most)])
        moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-12)
        if np.allclose(moved, middles, atol=1e-7):
            break
        middles = moved
    return np.asarray(middles, dtype=np.float32)


def _seeds(unit: Vectors, count: int) -> list[int]:
    """The vector nearest to the mean, then each time the one that is farthest from all before it."""
    seeds = [int(np.argmax(unit @ unit.mean(axis=0)))]
    nearest = unit @ unit[seeds[0]]
    while len(seeds) < count:
        seeds.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, unit @ unit[seeds[-1]])
    return seeds


def by_route(texts: Mapping[str, Sequence[str]], vectors: Mapping[bytes, Vectors], most: int) -> dict[str, Vectors]:
    """The prototypes of each route that has texts; `vectors` are shaped (d,), by `text_hash`."""
    return {
        route: prototypes(np.stack([vectors[text_hash(text)] for text in own]), most)
        for route, own in texts.items()
        if own
    }
