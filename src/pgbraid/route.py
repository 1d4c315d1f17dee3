"""Who is asked: the decision from what the rules matched, the caller's names and the default policy. Pure.

The rules themselves are judged in SQL (`sql/route/matches.sql`). Of the routes that match, those of the highest
priority count; their collections are asked together, with their profile when they agree on one and the default
profile when they do not: a reranker that fits one collection need not fit the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgbraid.errors import NoSuchCollection, NothingToSearch
from pgbraid.values import Candidate, Decision


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """A route as judged against one question."""

    name: str
    priority: int
    profile: str | None
    collections: tuple[str, ...]
    matched: bool
    patterns: tuple[str, ...]
    is_default: bool


def decide(
    routes: Sequence[RouteMatch],
    policy: str,
    readable: Sequence[str],
    named: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> Decision:
    """The decision for one question.

    Raises NoSuchCollection for a name that does not exist, NothingToSearch by policy `error`.
    """
    if named:
        return _by_name(named, readable, aliases or {})
    able = {route.name: tuple(c for c in route.collections if c in readable) for route in routes}
    matched = [route for route in routes if route.matched and able[route.name]]
    candidates = _candidates(readable, matched)
    if not matched:
        return _by_policy(routes, policy, readable, candidates)
    best = max(route.priority for route in matched)
    first = sorted((r for r in matched if r.priority == best), key=lambda r: r.name)
    chosen = tuple(sorted({c for route in first for c in able[route.name]}))
    reason = "; ".join(
        f"route {r.name} matched {', '.join(map(repr, r.patterns)) or 'the absence of its words'}" for r in first
    )
    profiles = {route.profile for route in first}
    return Decision("rules", chosen, candidates, reason, profile=profiles.pop() if len(profiles) == 1 else None)


def _by_name(named: Sequence[str], readable: Sequence[str], aliases: Mapping[str, str]) -> Decision:
    chosen = []
    for name in named:
        real = name if name in readable else aliases.get(name, name)
        if real not in readable:
            raise NoSuchCollection(name, [*readable, *(a for a, c in aliases.items() if c in readable)])
        if real not in chosen:
            chosen.append(real)
    candidates = tuple(Candidate(name, None, ("named",) if name in chosen else ()) for name in readable)
    return Decision("caller", tuple(chosen), candidates, "the caller named " + ", ".join(chosen))


def _candidates(readable: Sequence[str], matched: Sequence[RouteMatch]) -> tuple[Candidate, ...]:
    by_name: dict[str, list[str]] = {name: [] for name in readable}
    for route in matched:
        for collection in route.collections:
            if collection in by_name:
                by_name[collection] += [
                    f"{route.name}: {pattern}" for pattern in route.patterns or ("(no word of its own)",)
                ]
    return tuple(Candidate(name, None, tuple(found)) for name, found in by_name.items())


def _by_policy(
    routes: Sequence[RouteMatch], policy: str, readable: Sequence[str], candidates: tuple[Candidate, ...]
) -> Decision:
    reason = (
        f"no route matched, so the default policy {policy!r} decided"
        if routes
        else f"no route is declared, so the default policy {policy!r} decided"
    )
    if policy == "error":
        raise NothingToSearch(
            "No route matches the question and the default policy is 'error'. "
            "Name a collection, or declare another default."
        )
    default = next((r for r in routes if r.is_default), None)
    if policy == "route" and default is not None:
        chosen = tuple(c for c in default.collections if c in readable)
        return Decision(
            "default", chosen, candidates, f"{reason}: {', '.join(chosen)}", policy="route", profile=default.profile
        )
    chosen = tuple(readable) if policy == "all" else ()
    return Decision("default", chosen, candidates, reason, policy=policy)
