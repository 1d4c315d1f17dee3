# Generated from src/pgbraid/_async/search.py by scripts/async_to_sync.py. Change that file, not this one.

"""A question's way: look up → decide → plan → embed → retrieve → rerank → lift. Read `search` as the figure of
the house.

Two round trips, three with reranking; more only when a search had to be widened to find as many documents as were
asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgbraid._sync.catalog import Lookup
from pgbraid._sync.decide import Request, Run, look_and_decide, profile_of, question_vector, start
from pgbraid._sync.link import Database
from pgbraid._sync.rerank import reranked
from pgbraid.compose import compose, compose_lift
from pgbraid.db.statements import Statement, statement
from pgbraid.errors import (
    IngestError,
    ModelError,
    StatementFailed,
)
from pgbraid.lexical import weigh
from pgbraid.models import Models
from pgbraid.passages import Found, Retrieved, read_rows
from pgbraid.plan import Plan, make_plan
from pgbraid.values import (
    Collection,
    Decision,
    Failure,
    SearchResult,
    Trace,
)

EF_SEARCH = statement("session/ef_search")
ITERATIVE_SCAN = statement("session/iterative_scan")
NO_SEQSCAN = statement("session/no_seqscan")
NO_JIT = statement("session/no_jit")
WIDEST = 100_000  # candidates a branch; beyond that a search says that it is underfilled
UNDEFINED_TABLE = "42P01"


def search(database: Database, models: Models, request: Request) -> SearchResult:
    """Answer a question with passages. Raises what `errors` says of questions, names, filters and the database."""
    run = start(database, models, request)
    try:
        return _answer(run)
    except _Moved as moved:
        run.notes.append(f"{moved}: asked again")
    except StatementFailed as error:
        if error.sqlstate != UNDEFINED_TABLE:
            raise
        run.notes.append("a collection's tables were exchanged meanwhile: asked again")
    run.again = True
    run.failures.clear()
    return _answer(run)


class _Moved(Exception):
    """A document that the answer stands on was changed meanwhile."""


def _answer(run: Run) -> SearchResult:
    look, decision = look_and_decide(run)
    if not decision.chosen:
        return _result(run, decision, [], None)
    plan = _plan(run, look, decision)
    vectors, plan = _embed(run, plan)
    retrieved, plan = _retrieve(run, plan, vectors)
    found = list(retrieved.found)
    if plan.profile.rerank and found:
        found = reranked(run, plan, found, {c.embedder.name: c.embedder for c in look.collections})
    if not plan.with_text and found:
        found = _lift(run, plan, found[: plan.profile.top_k])
    return _result(run, decision, found[: plan.profile.top_k], (plan, retrieved))


def _plan(run: Run, look: Lookup, decision: Decision) -> Plan:
    with run.clock.stage("plan"):
        chosen = [c for c in look.collections if c.name in decision.chosen]
        profile = profile_of(run.request, look, decision)
        words = weigh(look.words, chosen)
        dropped = sum(len(query.dropped) for query in words.values())
        if dropped:
            run.notes.append(f"{dropped} of the question's most common words were left out of the lexical branches")
        return make_plan(chosen, words, profile, tenant=run.request.tenant, condition=run.condition)


def _embed(run: Run, plan: Plan) -> tuple[dict[int, NDArray[np.float32]], Plan]:
    """The question's vector, once for each embedder that a dense branch needs.

    One that fails takes only its own branches along.
    """
    records = {b.collection.embedder.id: b.collection.embedder for b in plan.branches if b.method == "dense"}
    vectors: dict[int, NDArray[np.float32]] = {}
    with run.clock.stage("embed"):
        for key, record in records.items():
            try:
                vectors[key] = question_vector(run, record)
            except (IngestError, ModelError) as error:
                run.failures.append(Failure(f"embedder {record.name}", str(error)))
    kept = tuple(b for b in plan.branches if b.method == "lexical" or b.collection.embedder.id in vectors)
    if not kept and run.failures:
        raise ModelError(f"No branch is left to search: {run.failures[0].reason}")
    numbered = tuple(replace(b, number=i) for i, b in enumerate(kept, 1))
    return vectors, replace(plan, branches=numbered)


def _retrieve(run: Run, plan: Plan, vectors: Mapping[int, NDArray[np.float32]]) -> tuple[Retrieved, Plan]:
    """The second trip: one statement.

    Again with more candidates while documents are missing that may still be there.
    """
    if not plan.branches:
        return Retrieved((), {}, True, 0, 0), plan
    with run.clock.stage("retrieve"):
        with run.database.link() as link:
            while True:
                run.plan, run.composed = plan, compose(plan, vectors, link.facts.vector_schema)
                rows = (link.read([(run.composed.statement, run.composed.params)], plan.tenant, knobs(plan)))[0]
                retrieved = read_rows(rows, plan)
                if not _worth_widening(plan, retrieved):
                    break
                plan = plan.wider()
                run.notes.append(
                    f"only {retrieved.documents} documents so far: searching {plan.candidates} candidates a branch"
                )
            run.trips += link.trips
    _count(run, plan, retrieved)
    return retrieved, plan


def _worth_widening(plan: Plan, retrieved: Retrieved) -> bool:
    """Whether more candidates a branch could bring documents that are still missing."""
    wanted = min(plan.documents, sum(c.documents for c in plan.collections))
    full = any(hits >= plan.candidates for hits in retrieved.hits.values())
    return retrieved.documents < wanted and full and plan.candidates < WIDEST


def knobs(plan: Plan) -> list[Statement]:
    """What a plan asks of its transaction: the settings that its statement is made for."""
    asked = [NO_JIT]
    if any(branch.method == "lexical" for branch in plan.branches):
        asked.append(NO_SEQSCAN)
    if plan.ef_search is not None:
        asked += [EF_SEARCH.fill(breadth=plan.ef_search), ITERATIVE_SCAN]
    return asked


def _count(run: Run, plan: Plan, retrieved: Retrieved) -> None:
    run.counts |= {f"{b.name} hits": retrieved.hits.get(b.number, 0) for b in plan.branches}
    run.counts |= {
        "collections": len(plan.collections),
        "branches": len(plan.branches),
        "documents": retrieved.documents,
    }
    if retrieved.gone:
        run.counts["documents gone"] = retrieved.gone
        run.notes.append(f"{retrieved.gone} documents were removed while the question was answered")


def _lift(run: Run, plan: Plan, found: list[Found]) -> list[Found]:
    """The third trip: the texts of the documents that are returned, in order.

    One that is gone, or has changed since its chunks were read, is counted, not hidden.
    """
    with run.clock.stage("lift"):
        wanted = [f.key for f in found]
        asked = compose_lift(_of(plan.collections, wanted), wanted, plan.tenant)
        with run.database.link() as link:
            rows = (link.read([(asked.statement, asked.params)], plan.tenant))[0]
            run.trips += link.trips
    lifted = [
        replace(one, passage=replace(one.passage, text=row["text"]))
        for one, row in zip(found, rows, strict=True)
        if row["external_id"] is not None and bytes(row["hash"]) == one.hash
    ]
    if len(lifted) < len(found):
        moved = f"{len(found) - len(lifted)} documents were changed or removed while the question was answered"
        if not run.again:
            raise _Moved(moved)
        run.notes.append(moved)
    return lifted


def _of(collections: Sequence[Collection], wanted: Sequence[tuple[int, int]]) -> list[Collection]:
    used = {collection_id for collection_id, _ in wanted}
    return [c for c in collections if c.id in used]


def _result(
    run: Run, decision: Decision, found: Sequence[Found], searched: tuple[Plan, Retrieved] | None
) -> SearchResult:
    underfilled = approximate = False
    if searched is not None:
        plan, retrieved = searched
        approximate = not retrieved.exact
        underfilled = len(found) < plan.profile.top_k and (_worth_widening(plan, retrieved) or approximate)
    return SearchResult(
        question=run.request.question,
        status="found" if found else "nothing",
        passages=tuple(f.passage for f in found),
        decision=decision,
        trace=Trace(run.clock.finish(), run.counts, run.trips, tuple(run.notes)),
        degraded=bool(run.failures),
        underfilled=underfilled,
        approximate=approximate,
        failures=tuple(run.failures),
    )


def followed(database: Database, models: Models, request: Request) -> tuple[Run, SearchResult]:
    """A search with what it gathered on its way: its plan and its statement, where it came so far."""
    run = start(database, models, request)
    return run, _answer(run)
