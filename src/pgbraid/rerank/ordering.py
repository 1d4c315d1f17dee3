"""The arithmetic of reranking: two lists of scores on one scale, one order out of both. Pure.

scaled(x)  = (x - min) / (max - min) over the candidates that were reranked; 1.0 for each when all are equal
combined   = blend * scaled(reranked) + (1 - blend) * scaled(fused)
order      = combined, highest first; equal ones as they stood; then those without a rerank score, as they stood
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pgbraid.errors import ModelError, SettingsError


def order(fused: Sequence[float], reranked: Sequence[float | None], blend: float) -> list[int]:
    """The candidates' places (from 0, in fused order) in their new order.

    `reranked` holds None for a candidate that was not scored. Raises ModelError for a score that is not finite or for
    another count of scores than of candidates, and SettingsError for a blend outside 0 to 1.
    """
    if len(fused) != len(reranked):
        raise ModelError(f"There are {len(reranked)} rerank scores for {len(fused)} candidates.")
    check_blend(blend)
    scored = [(place, score) for place, score in enumerate(reranked) if score is not None]
    rerank_scale = _scaled([score for _, score in scored])
    fused_scale = _scaled([fused[place] for place, _ in scored])
    combined = [blend * new + (1.0 - blend) * old for new, old in zip(rerank_scale, fused_scale, strict=True)]
    best_first = sorted(range(len(scored)), key=lambda at: (-combined[at], scored[at][0]))
    missing = [place for place, score in enumerate(reranked) if score is None]
    return [scored[at][0] for at in best_first] + missing


def check_blend(blend: float) -> None:
    """Raise SettingsError unless the blend is a number from 0 to 1."""
    if not 0.0 <= blend <= 1.0:
        raise SettingsError(f"The blend of a reranker is {blend!r}; it must be from 0 (fused order) to 1 (its own).")


def check_scores(scores: Sequence[float], count: int, what: str) -> list[float]:
    """The scores as floats. Raises ModelError unless there are `count`, each a finite number."""
    found = as_scores(scores, count, what)
    for place, score in enumerate(found):
        if not math.isfinite(score):
            raise ModelError(f"{what} gave the score {score} for the text at place {place}, which cannot be ordered.")
    return found


def as_scores(scores: Sequence[float], count: int, what: str) -> list[float]:
    """The scores as floats, finite or not. Raises ModelError unless there are `count` numbers."""
    try:
        found = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} gave something that is no list of numbers: {error}") from error
    if len(found) != count:
        raise ModelError(f"{what} gave {len(found)} scores for {count} texts.")
    return found


def _scaled(scores: Sequence[float]) -> list[float]:
    if not all(map(math.isfinite, scores)):
        raise ModelError(f"Among the scores to be ordered is one that is not finite: {list(scores)}.")
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]
