"""Fusing stored branch results again under other settings, without touching the index.

The arithmetic is that of `sql/retrieve/fuse_*.sql` and `collapse.sql` for one collection, where every branch is a pool
of its own; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from pgbraid.measure.values import BranchHit, Observed
from pgbraid.values import Profile

TINY = 1e-9


def replay(observed: Observed, profile: Profile) -> list[str]:
    """External ids of the `top_k` best documents, as a search of one collection with this profile would give them.

    Candidates can only be fewer than were observed. Thresholds apply before fusion.
    """
    parts: dict[tuple[int, int], list[tuple[float, BranchHit]]] = {}
    for method, weight, threshold in (
        ("dense", profile.dense_weight, profile.dense_threshold),
        ("lexical", profile.lexical_weight, profile.lexical_threshold),
    ):
        hits = [h for h in observed.hits if h.method == method and h.rank <= profile.candidates]
        if threshold is not None:
            hits = [h for h in hits if h.score >= threshold]
        if weight and hits:
            share = SHARES[profile.fusion](hits, profile)
            for hit in hits:
                parts.setdefault((hit.document, hit.ordinal), []).append((weight * share(hit), hit))
    return _collapsed(parts)[: profile.top_k]


def _collapsed(parts: dict[tuple[int, int], list[tuple[float, BranchHit]]]) -> list[str]:
    """Documents by their best chunk, in the total order: fused score, best rank, number of branches, key."""
    best: dict[int, tuple[float, int, int, int, str]] = {}
    for (document, _), given in parts.items():
        fused = sum(share for share, _ in given)
        rank = min(hit.rank for _, hit in given)
        place = (-fused, rank, -len(given), document, given[0][1].external_id)
        best[document] = min(best.get(document, place), place)
    return [place[-1] for place in sorted(best.values())]


Share = Callable[[BranchHit], float]


def _standard(hits: Sequence[BranchHit], _: Profile) -> Share:
    middle = fmean(h.score for h in hits)
    spread = fmean((h.score - middle) ** 2 for h in hits) ** 0.5
    return _above_worst(hits, spread)


def _range(hits: Sequence[BranchHit], _: Profile) -> Share:
    scores = [h.score for h in hits]
    return _above_worst(hits, max(scores) - min(scores))


def _above_worst(hits: Sequence[BranchHit], spread: float) -> Share:
    worst = min(h.score for h in hits)
    return (lambda hit: (hit.score - worst) / spread) if spread > TINY else (lambda hit: 1.0)


def _reciprocal(_: Sequence[BranchHit], profile: Profile) -> Share:
    return lambda hit: 1 / (profile.rrf_k + hit.rank)


SHARES: dict[str, Callable[[Sequence[BranchHit], Profile], Share]] = {
    "zscore": _standard,
    "minmax": _range,
    "rrf": _reciprocal,
}
