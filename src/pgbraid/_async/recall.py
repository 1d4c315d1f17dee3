"""A collection's vector index against comparing every chunk, by the statements of a search.

Questions are vectors of the collection itself. Every answer is asked for alone, so its time is that of one round trip;
exact answers and breadths take turns within a question, so a busy machine slows them all alike.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pgbraid._async import catalog, indexes
from pgbraid._async.link import Database, Link, Row
from pgbraid._async.search import EF_SEARCH, ITERATIVE_SCAN, NO_JIT, NO_SEQSCAN
from pgbraid.compose import branch_statements, tenant_in
from pgbraid.db.statements import Statement, statement
from pgbraid.errors import CatalogError, SettingsError
from pgbraid.identity import check_tenant
from pgbraid.measure.recall import HEAD, Line, Point, Recalled, Sweep, found, percentile
from pgbraid.plan import MAX_EF_SEARCH, Plan, Way, make_plan
from pgbraid.values import Collection, Profile

SAMPLE_VECTORS = statement("measure/sample_vectors")
SHARE = statement("measure/share")
NO_SORT = statement("measure/no_sort")
DEEPER = 2  # exact answers are asked for so many times the candidates, to see what is as near as the last one

Vector = NDArray[np.float32]
Answer = tuple[list[Row], float]


@dataclass(slots=True)
class _Seen:
    """What one breadth gave: shares found by question, and milliseconds."""

    recall: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)


async def recall(database: Database, name: str, sweep: Sweep) -> Recalled:
    """Measure. Writes nothing.

    Raises NoSuchCollection, SettingsError for a sweep that cannot be made, CatalogError where there is no whole index
    or nothing to sample.
    """
    _check(sweep)
    async with database.link() as link:
        collection = await catalog.collection(link, name)
        check_tenant(collection, sweep.tenant)
        if not (await indexes.standing(link, collection)).valid:
            raise CatalogError(f"{name!r} has no whole vector index: make it with pgbraid maintain {name}")
        vectors = await _sample(link, collection, sweep)
        if not vectors:
            raise CatalogError(f"{name!r} holds no chunks to sample: load documents first")
        filters = sweep.filters or {"": None}
        lines = [await _line(link, collection, sweep, shown, vectors) for shown in filters]
    used = collection.chunks > max(collection.index.exact_below, 4 * sweep.candidates)
    return Recalled(
        name, collection.chunks, len(vectors), sweep.candidates, collection.index.ef_search, used, tuple(lines)
    )


def _check(sweep: Sweep) -> None:
    if not sweep.breadths or not all(1 <= one <= MAX_EF_SEARCH for one in sweep.breadths):
        raise SettingsError(f"ef_search is from 1 to {MAX_EF_SEARCH}, not {list(sweep.breadths)}")
    if sweep.sample < 1 or sweep.candidates < 1:
        raise SettingsError(f"sample ({sweep.sample}) and candidates ({sweep.candidates}) are at least 1")


async def _sample(link: Link, collection: Collection, sweep: Sweep) -> list[Vector]:
    asked = SAMPLE_VECTORS.fill(chunk=collection.chunk_table, ext=link.facts.vector_schema)
    params = {"tenant": tenant_in(collection, sweep.tenant), "number": sweep.sample}
    rows = (await link.read([(asked, params)], sweep.tenant))[0]
    return [np.fromstring(row["embedding"][1:-1], sep=",", dtype=np.float32) for row in rows]


async def _line(link: Link, collection: Collection, sweep: Sweep, shown: str, vectors: list[Vector]) -> Line:
    condition = (sweep.filters or {"": None})[shown]
    profile = Profile(candidates=sweep.candidates, top_k=1, lexical_weight=0.0)
    plan = make_plan([collection], {}, profile, tenant=sweep.tenant, condition=condition)
    deeper = replace(plan, candidates=DEEPER * sweep.candidates)
    breadths = sorted(set(sweep.breadths))
    seen = {breadth: _Seen() for breadth in breadths}
    exact_spent = []
    for vector in vectors:
        exact, spent = await _asked(link, deeper, "exact", vector, [NO_JIT])
        exact_spent.append(spent)
        for breadth in breadths:
            knobs = [NO_JIT, NO_SEQSCAN, NO_SORT, EF_SEARCH.fill(breadth=breadth), ITERATIVE_SCAN]
            _count(seen[breadth], exact, await _asked(link, plan, "index", vector, knobs), sweep.candidates)
    points = tuple(_point(breadth, one) for breadth, one in seen.items())
    return Line(shown, await _share(link, plan, collection), percentile(exact_spent, 0.5), points)


async def _asked(link: Link, plan: Plan, way: Way, vector: Vector, knobs: list[Statement]) -> Answer:
    """The rows of the dense branch, and the milliseconds of the round trip."""
    (branch,) = plan.branches
    chosen = replace(plan, branches=(replace(branch, way=way),))
    vectors: Mapping[int, Vector] = {branch.collection.embedder.id: vector}
    (composed,) = branch_statements(chosen, vectors, link.facts.vector_schema)
    start = time.perf_counter()
    rows = (await link.read([(composed.statement, composed.params)], plan.tenant, knobs))[0]
    return rows, (time.perf_counter() - start) * 1000


def _count(seen: _Seen, exact: list[Row], answer: Answer, candidates: int) -> None:
    rows, spent = answer
    seen.recall.append(found(exact, rows, candidates))
    seen.first.append(found(exact, rows, min(HEAD, candidates)))
    seen.spent.append(spent)


def _point(breadth: int, seen: _Seen) -> Point:
    mean, first = (float(np.mean(one)) for one in (seen.recall, seen.first))
    return Point(breadth, mean, first, min(seen.recall), percentile(seen.spent, 0.5), percentile(seen.spent, 0.95))


async def _share(link: Link, plan: Plan, collection: Collection) -> float:
    asked = SHARE.fill(chunk=collection.chunk_table)
    params = {"tenant": tenant_in(collection, plan.tenant), "filter": plan.filter}
    row = (await link.read([(asked, params)], plan.tenant))[0][0]
    return float(row["passing"] / row["chunks"]) if row["chunks"] else 0.0
