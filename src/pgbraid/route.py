"""Who is asked: the decision from what the rules matched, the caller's names and the default policy. Pure.

The rules themselves are judged in SQL (`sql/route/matches.sql`). Of the routes that match, those of the highest
priority count; their collections are asked together, with their profile when they agree on one and the default
profile when they do not: a reranker that fits one collection need not fit the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgbraid.errors import NoSuchCollection, NothingToSearch
from pgbraid.values import Candidate, Decision, Step


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
        return by_name(named, readable, aliases or {})
    return by_rules(routes, readable) or by_policy(routes, policy, readable)


def by_rules(routes: Sequence[RouteMatch], readable: Sequence[str]) -> Decision | None:
    """What the rules chose, or None when no route matches of which something may be read."""
    able = reachable(routes, readable)
    matched = [route for route in routes if route.matched and able[route.name]]
    if not matched:
        return None
    best = max(route.priority for route in matched)
    first = sorted((r for r in matched if r.priority == best), key=lambda r: r.name)
    reason = "; ".join(
        f"route {r.name} matched {', '.join(map(repr, r.patterns)) or 'the absence of its words'}" for r in first
    )
    return _of_routes("rules", first, able, reason, _candidates(readable, matched))


def by_step(step: Step, routes: Sequence[RouteMatch], readable: Sequence[str]) -> Decision:
    """What a selector chose by scores. A collection's score is that of the best route to it."""
    first = [route for route in routes if route.name in step.routes]
    candidates = scored(_candidates(readable, []), step, routes)
    return _of_routes(step.selector, first, reachable(routes, readable), step.reason, candidates)


def scored(candidates: Sequence[Candidate], step: Step, routes: Sequence[RouteMatch]) -> tuple[Candidate, ...]:
    """Candidates with the scores of a step."""
    targets = {route.name: route.collections for route in routes}
    best: dict[str, float] = {}
    for name, score in step.scores:
        for collection in targets.get(name, ()):
            best[collection] = max(score, best.get(collection, score))
    return tuple(replace(c, score=best.get(c.name, c.score)) for c in candidates)


def reachable(routes: Sequence[RouteMatch], readable: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By route, those of its collections that may be read."""
    return {route.name: tuple(c for c in route.collections if c in readable) for route in routes}


def _of_routes(
    selector: str,
    first: Sequence[RouteMatch],
    able: Mapping[str, tuple[str, ...]],
    reason: str,
    candidates: tuple[Candidate, ...],
) -> Decision:
    chosen = tuple(sorted({c for route in first for c in able[route.name]}))
    profiles = {route.profile for route in first}
    return Decision(selector, chosen, candidates, reason, profile=profiles.pop() if len(profiles) == 1 else None)


def by_name(named: Sequence[str], readable: Sequence[str], aliases: Mapping[str, str]) -> Decision:
    """The collections that the caller named. Raises NoSuchCollection."""
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


def by_policy(
    routes: Sequence[RouteMatch], policy: str, readable: Sequence[str], because: str | None = None
) -> Decision:
    """What is asked when nobody chose. Raises NothingToSearch by policy `error`."""
    because = because or ("no route matched" if routes else "no route is declared")
    reason = f"{because}, so the default policy {policy!r} decided"
    if policy == "error":
        said = "No route matches the question" if because.startswith("no route") else because
        raise NothingToSearch(
            f"{said} and the default policy is 'error'. Name a collection, or declare another default."
        )
    candidates = _candidates(readable, [])
    default = next((r for r in routes if r.is_default), None)
    if policy == "route" and default is not None:
        chosen = tuple(c for c in default.collections if c in readable)
        return Decision(
            "default", chosen, candidates, f"{reason}: {', '.join(chosen)}", policy="route", profile=default.profile
        )
    chosen = tuple(readable) if policy == "all" else ()
    return Decision("default", chosen, candidates, reason, policy=policy)
