# Generated from src/pgbraid/_async/decide.py by scripts/async_to_sync.py. Change that file, not this one.

"""Deciding: the first round trip of every question, and what it tells: who is asked, and with which profile.

`Run` is what one question gathers on its way; `search` goes on with it, `decide` stops here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pgbraid import route
from pgbraid._sync import catalog
from pgbraid._sync.link import Database
from pgbraid.clock import Clock
from pgbraid.compose import Composed
from pgbraid.compute import directly
from pgbraid.db.statements import Statement, statement
from pgbraid.db.vectors import as_text
from pgbraid.errors import ConnectionLost, IngestError, ModelError, NoSuchProfile, SettingsError
from pgbraid.filters import compile_filter
from pgbraid.identity import check_tenant_text
from pgbraid.models import Models, calling
from pgbraid.plan import Plan, with_options
from pgbraid.question import clean_question
from pgbraid.selectors import NONE, Ready, failed, judge, told
from pgbraid.values import Decision, EmbedderRecord, Failure, Profile, Step, Vectors

NEAREST = statement("route/nearest")
CLASSIFY = statement("route/classify")


@dataclass(frozen=True, slots=True)
class Request:
    """A question and what the caller wants of it. `options` are profile settings over the route's own."""

    question: str
    collections: tuple[str, ...] = ()
    filter: Mapping[str, Any] | str | None = None
    tenant: str = ""
    profile: str | None = None
    rerank: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Run:
    """What one search gathers on its way."""

    database: Database
    models: Models
    request: Request
    condition: str | None
    clock: Clock
    notes: list[str]
    failures: list[Failure] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    trips: int = 0
    plan: Plan | None = None
    composed: Composed | None = None
    again: bool = False
    vectors: dict[int, Vectors] = field(default_factory=dict)


def request(
    question: str,
    *,
    collections: Sequence[str] | str = (),
    filter: Mapping[str, Any] | str | None = None,
    tenant: str = "",
    profile: str | None = None,
    rerank: bool | str | None = None,
    **options: Any,
) -> Request:
    """A request from what a caller says; `rerank` is False for none, True for the profile's own, or names one."""
    if rerank is not None and not isinstance(rerank, (bool, str)):
        raise SettingsError(f"rerank is True, False or the name of a reranker, not {rerank!r}")
    return Request(
        question=question,
        collections=_names(collections),
        filter=filter,
        tenant=tenant,
        profile=profile,
        rerank=rerank if isinstance(rerank, bool) else None,
        options={**options, "rerank": rerank if isinstance(rerank, str) else None},
    )


def _names(given: Sequence[str] | str) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(name, str) for name in names):
        raise SettingsError(f"collections is a name or a list of names, not {given!r:.100}")
    return names


def decide(database: Database, models: Models, asked: Request) -> Decision:
    """Only the decision: which collections would be asked, and why. Retrieves nothing."""
    return (look_and_decide(start(database, models, asked)))[1]


def start(database: Database, models: Models, request: Request) -> Run:
    text, notes = clean_question(request.question)
    check_tenant_text(request.tenant)
    request = replace(request, question=text)
    return Run(database, models, request, compile_filter(request.filter), Clock(), list(notes))


def look_and_decide(run: Run) -> tuple[catalog.Lookup, Decision]:
    with run.clock.stage("look_up"):
        look = _look_up(run)
    with run.clock.stage("decide"):
        decision = _decided(run, look, catalog.names(look.collections))
    spent = run.clock.milliseconds["look_up"] + run.clock.milliseconds["decide"]
    return look, replace(decision, milliseconds=round(spent, 3))


def _decided(run: Run, look: catalog.Lookup, readable: Sequence[str]) -> Decision:
    """Who is asked: whom the caller named, else by the first selector of the chain that chooses, else by policy."""
    if run.request.collections:
        return route.by_name(run.request.collections, readable, look.aliases)
    steps: list[Step] = []
    decision: Decision | None = None
    for ready in look.selectors:
        start = time.perf_counter()
        step, decision = _asked(run, look, ready, readable)
        steps.append(replace(step, milliseconds=round((time.perf_counter() - start) * 1000, 3)))
        if decision is not None or step.policy != "next":
            break
    if decision is None:
        decision = _by_policy(look, steps[-1], readable)
    return replace(decision, steps=tuple(steps))


def _asked(run: Run, look: catalog.Lookup, ready: Ready, readable: Sequence[str]) -> tuple[Step, Decision | None]:
    """One selector's step, and its decision if it chose."""
    if ready.selector.kind == "rules":
        decision = route.by_rules(look.routes, readable)
        if decision is None:
            return Step("rules", "empty", "no route matched", policy="next"), None
        return Step("rules", "chosen", decision.reason), decision
    try:
        scores = _scores(run, look, ready, readable)
    except (IngestError, ModelError) as error:
        run.failures.append(Failure(f"selector {ready.selector.kind}", str(error)))
        return failed(ready, str(error)), None
    step = judge(ready, scores)
    return step, route.by_step(step, look.routes, readable) if step.routes else None


def _scores(run: Run, look: catalog.Lookup, ready: Ready, readable: Sequence[str]) -> list[tuple[str, float]]:
    """How near the question is to each route of which something may be read, best first: one more trip."""
    able = [name for name, found in route.reachable(look.routes, readable).items() if found]
    if not able or ready.record is None:
        return []
    vector = question_vector(run, ready.record)
    asked: Statement = NEAREST
    params: dict[str, Any] = {"embedder_id": ready.record.id, "nearest": ready.selector.nearest}
    if ready.classifier is not None:
        asked, params = CLASSIFY, {"classifier_id": ready.classifier}
        vector = vector / np.linalg.norm(vector)
    with run.database.link() as link:
        params |= {"vector": as_text(vector), "routes": able}
        rows = (link.read([(asked.fill(ext=link.facts.vector_schema), params)], run.request.tenant))[0]
        run.trips += link.trips
    return [(row["name"] or NONE, float(row["score"])) for row in rows]


def _by_policy(look: catalog.Lookup, step: Step, readable: Sequence[str]) -> Decision:
    """What is asked when the last selector that was asked did not choose."""
    policy = look.policy if step.policy in ("next", "default") else str(step.policy)
    because = None if step.selector == "rules" else told(step)
    decision = route.by_policy(look.routes, policy, readable, because)
    return replace(decision, candidates=route.scored(decision.candidates, step, look.routes))


def question_vector(run: Run, record: EmbedderRecord) -> Vectors:
    """The question's vector, shape (d,), computed once for each embedder. Raises ModelError."""
    if record.id not in run.vectors:
        run.vectors[record.id] = directly(_vector, run.models, record, run.request.question)
    return run.vectors[record.id]


def _vector(models: Models, record: EmbedderRecord, question: str) -> Vectors:
    embedder = models.embedder(record)
    with calling(f"embedder {record.name!r}"):
        vector: Vectors = np.asarray(embedder.embed_queries([question])[0])
    if vector.shape != (record.dimensions,) or not np.isfinite(vector).all() or not vector.any():
        raise ModelError(
            f"Embedder {record.name!r} gave no usable vector for the question (shape {vector.shape}, "
            f"expected ({record.dimensions},), finite and not zero)."
        )
    return vector


def _look_up(run: Run) -> catalog.Lookup:
    """The first trip. A pooled connection that died since its last use is replaced, once."""
    try:
        return _looked_up(run)
    except ConnectionLost:
        run.database.refresh()
        run.notes.append("a connection was lost and replaced")
        return _looked_up(run)


def _looked_up(run: Run) -> catalog.Lookup:
    with run.database.link() as link:
        look = catalog.look_up(link, run.request.question, run.request.tenant)
        run.trips += link.trips
        return look


def profile_of(request: Request, look: catalog.Lookup, decision: Decision) -> Profile:
    """The caller's profile by name, else the route's, else `default` where declared; the caller's options over it."""
    name = request.profile or decision.profile
    if name is not None and name not in look.profiles:
        raise NoSuchProfile(name, look.profiles)
    profile = look.profiles.get(name or "default", Profile())
    options = dict(request.options)
    if request.rerank is False:
        profile = replace(profile, rerank=None)
        options.pop("rerank", None)
    merged = with_options(profile, options)
    if request.rerank and merged.rerank is None:
        raise SettingsError(
            f"rerank was asked for, but profile {merged.name!r} names no reranker: name one, as maxsim:EMBEDDER"
        )
    return merged
