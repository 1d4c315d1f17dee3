"""A question's way with its plan: what PostgreSQL did for each branch, read from `EXPLAIN (ANALYZE, BUFFERS)`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgbraid.values import SearchResult

Node = Mapping[str, Any]
PART = "Subplan Name"


@dataclass(frozen=True, slots=True)
class BranchWork:
    """What one branch cost: `rows` are its hits, `removed` the rows that it read and a filter or condition threw away;
    `indexes` served it (none: whole tables were read, named in `scanned`); buffers are pages, from memory or not."""

    name: str
    milliseconds: float
    rows: int
    removed: int
    indexes: tuple[str, ...]
    scanned: tuple[str, ...]
    buffers_hit: int
    buffers_read: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer with how it came about: the statement as psql can run it, its plan (the object of EXPLAIN's JSON), and
    the work of each branch. Without a branch to search there is neither statement nor plan."""

    result: SearchResult
    statement: str = ""
    plan: Mapping[str, Any] = field(default_factory=dict)
    branches: tuple[BranchWork, ...] = ()
    planning_ms: float = 0.0
    execution_ms: float = 0.0


def explanation(result: SearchResult, statement: str, plan: Node, names: Mapping[str, str]) -> Explanation:
    """Read a plan; `names` gives the branch for the name of its CTE."""
    parts = {node[PART].removeprefix("CTE "): node for node in nodes(plan["Plan"]) if PART in node}
    branches = tuple(_work(name, parts[cte]) for cte, name in names.items() if cte in parts)
    return Explanation(
        result, statement, plan, branches, float(plan["Planning Time"]), float(plan["Execution Time"])
    )  # fmt: skip


def nodes(root: Node) -> Iterator[Node]:
    """A node of a plan and all below it."""
    yield root
    for child in root.get("Plans", ()):
        yield from nodes(child)


def spent(node: Node) -> float:
    """Milliseconds in a node and all below it, over all its loops."""
    return float(node.get("Actual Total Time", 0.0)) * max(1, int(node.get("Actual Loops", 1)))


def _work(name: str, root: Node) -> BranchWork:
    below = list(nodes(root))
    return BranchWork(
        name,
        spent(root),
        round(float(root.get("Actual Rows", 0)) * int(root.get("Actual Loops", 1))),
        sum(_removed(node) for node in below),
        _distinct(below, "Index Name"),
        _distinct([node for node in below if node["Node Type"] == "Seq Scan"], "Relation Name"),
        int(root.get("Shared Hit Blocks", 0)),
        int(root.get("Shared Read Blocks", 0)),
    )


def _removed(node: Node) -> int:
    """Rows that a node read and did not give on; PostgreSQL counts them per loop."""
    kinds = ("Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter")
    return round(sum(float(node.get(kind, 0)) for kind in kinds) * int(node.get("Actual Loops", 1)))


def _distinct(found: Sequence[Node], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(node[key]) for node in found if key in node))
