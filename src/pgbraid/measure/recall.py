"""How much of the exact answer a vector index finds: the values of a sweep, and what is counted as found. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BREADTHS = (10, 20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000)
HEAD = 10
TIE = 1e-9
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is measured: `sample` vectors of the collection asked for their `candidates` nearest chunks, at every
    breadth, and under every filter (compiled; None for none)."""

    sample: int = 100
    candidates: int = 100
    breadths: tuple[int, ...] = BREADTHS
    filters: Mapping[str, str | None] | None = None
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A breadth (`ef_search`) measured: share found of the exact candidates and of the first ten of them, means over
    the sample, the least of any question, and milliseconds of a round trip (median, 95th percentile)."""

    ef_search: int
    recall: float
    recall_of_first: float
    least: float
    median_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Line:
    """All breadths under one filter. `share` of the chunks pass it; `exact_ms` is the median of comparing every one."""

    filter: str
    share: float
    exact_ms: float
    points: tuple[Point, ...]

    def smallest(self, wanted: float) -> Point | None:
        """The smallest breadth from which on every measured one finds at least `wanted` (0 to 1) of the candidates."""
        reached: Point | None = None
        for point in reversed(self.points):
            if point.recall < wanted:
                break
            reached = point
        return reached


@dataclass(frozen=True, slots=True)
class Recalled:
    """A sweep's outcome; `used` tells that searches of this collection use the index at all (`exact_below`)."""

    collection: str
    chunks: int
    sample: int
    candidates: int
    ef_search: int
    used: bool
    lines: tuple[Line, ...]


def found(exact: Sequence[Row], given: Sequence[Row], wanted: int) -> float:
    """Which share of the `wanted` best exact rows is among the first `wanted` given ones; 1 where there are none.

    `exact` is asked deeper than `wanted`: rows as near as the last one of them are as right as that one, so texts that
    stand twice in a collection do not count as missed.
    """
    best = exact[:wanted]
    if not best:
        return 1.0
    right = {_key(row) for row in exact if row["score"] >= best[-1]["score"] - TIE}
    return min(len(best), sum(_key(row) in right for row in given[:wanted])) / len(best)


def _key(row: Row) -> tuple[int, int]:
    return row["document_id"], row["ordinal"]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed; nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
