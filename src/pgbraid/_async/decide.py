"""Deciding: the first round trip of every question, and what it tells: who is asked, and with which profile.

`Run` is what one question gathers on its way; `search` goes on with it, `decide` stops here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pgbraid import route
from pgbraid._async import catalog
from pgbraid._async.link import Database
from pgbraid.clock import Clock
from pgbraid.compose import Composed
from pgbraid.errors import ConnectionLost, NoSuchProfile, SettingsError
from pgbraid.filters import compile_filter
from pgbraid.identity import check_tenant_text
from pgbraid.models import Models
from pgbraid.plan import with_options
from pgbraid.question import clean_question
from pgbraid.values import Decision, Failure, Profile


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
    composed: Composed | None = None
    again: bool = False


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


async def decide(database: Database, asked: Request) -> Decision:
    """Only the decision: which collections would be asked, and why. Retrieves nothing."""
    return (await look_and_decide(start(database, Models(), asked)))[1]


def start(database: Database, models: Models, request: Request) -> Run:
    text, notes = clean_question(request.question)
    check_tenant_text(request.tenant)
    request = replace(request, question=text)
    return Run(database, models, request, compile_filter(request.filter), Clock(), list(notes))


async def look_and_decide(run: Run) -> tuple[catalog.Lookup, Decision]:
    with run.clock.stage("look_up"):
        look = await _look_up(run)
    with run.clock.stage("decide"):
        readable = catalog.names(look.collections)
        decision = route.decide(look.routes, look.policy, readable, run.request.collections, look.aliases)
    spent = run.clock.milliseconds["look_up"] + run.clock.milliseconds["decide"]
    return look, replace(decision, milliseconds=round(spent, 3))


async def _look_up(run: Run) -> catalog.Lookup:
    """The first trip. A pooled connection that died since its last use is replaced, once."""
    try:
        return await _looked_up(run)
    except ConnectionLost:
        await run.database.refresh()
        run.notes.append("a pooled connection was lost and replaced")
        return await _looked_up(run)


async def _looked_up(run: Run) -> catalog.Lookup:
    async with run.database.link() as link:
        look = await catalog.look_up(link, run.request.question, run.request.tenant)
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
