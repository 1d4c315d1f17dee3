# Generated from src/pgbraid/_async/declare.py by scripts/async_to_sync.py. Change that file, not this one.

"""Making the catalogue what a file declares: models are asked first, then all is compared and written in one go.

What has to change is decided by `pgbraid.changes`; here it is only read, locked and done. A dry run does all of it and
then takes it back, so it finds every mistake that the real one would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb

from pgbraid._sync import catalog, learn
from pgbraid._sync.link import Database, Link, Row
from pgbraid.changes import Stored, check, difference, spec_of, undescribed
from pgbraid.compute import directly
from pgbraid.db.statements import statement
from pgbraid.declared import DEFAULT_ROUTE, Change, Changes, Declared, Default, Route, Rule, parse
from pgbraid.errors import CatalogError, SettingsError, StatementFailed
from pgbraid.models import Models
from pgbraid.selectors import Selector, settings_of
from pgbraid.values import EmbedderRecord

LOCK = statement("declare/lock")
TEXT_CONFIGS = statement("declare/text_configs")
ROUTES = statement("declare/routes")
ROUTING = statement("declare/routing")
TRY_EXPRESSION = statement("declare/try_expression")
UPDATE_EMBEDDER = statement("declare/update_embedder")
WRITE_PROFILE = statement("declare/write_profile")
DROP_PROFILE = statement("declare/drop_profile")
WRITE_ROUTE = statement("declare/write_route")
DROP_ROUTE = statement("declare/drop_route")
CLEAR_COLLECTIONS = statement("declare/clear_collections")
ADD_COLLECTIONS = statement("declare/add_collections")
CLEAR_EXAMPLES = statement("declare/clear_examples")
ADD_EXAMPLES = statement("declare/add_examples")
CLEAR_SELECTORS = statement("declare/clear_selectors")
ADD_SELECTOR = statement("declare/add_selector")
CLEAR_RULES = statement("declare/clear_rules")
ADD_RULES = statement("declare/add_rules")
WRITE_ROUTING = statement("declare/write_routing")
WRITE_ALIAS = statement("declare/write_alias")
DROP_ALIAS = statement("declare/drop_alias")
ACTIVE = statement("declare/active_classifier")
INVALID_EXPRESSION = "2201B"


class _OnlyLooked(Exception):
    def __init__(self, changes: Changes) -> None:
        super().__init__()
        self.changes = changes


def apply(
    database: Database,
    models: Models,
    source: Declared | Mapping[str, Any] | Path | str,
    *,
    dry_run: bool = False,
) -> Changes:
    """Make the catalogue what a file declares, all or nothing; applying it again changes nothing.

    Collections and embedders that are not in the file stay; profiles, routes and aliases that are not are dropped when
    their section is there. Raises SettingsError, UnknownOption, and what models and the database raise.
    """
    declared = parse(source)
    described = _described(database, models, declared)
    learned = _learned(database, models, declared, described)
    try:
        with database.link() as link, link.writing():
            link.rows(LOCK)
            changes = _applied(link, declared, described, learned, dry_run)
            if dry_run:
                raise _OnlyLooked(changes)
    except _OnlyLooked as looked:
        return looked.changes
    return changes


def _described(database: Database, models: Models, declared: Declared) -> dict[str, EmbedderRecord]:
    """The new and changed embedders as their models are. Loading takes long: no connection waits for it."""
    with database.link() as link:
        stored = {e.name: e for e in catalog.embedders(link)}
    described = {}
    for record in undescribed(declared, stored):
        try:
            described[record.name] = directly(models.describe, record)
        except SettingsError as error:
            raise type(error)(f"embedders.{record.name}: {error}") from error
    return described


def _learned(
    database: Database, models: Models, declared: Declared, described: Mapping[str, EmbedderRecord]
) -> learn.Learned:
    """The vectors of examples that are new to the embedder of the chain. Mistakes are left for `check` to find."""
    with database.link() as link:
        stored = _stored(link)
    chain = stored.selectors if declared.selectors is None else declared.selectors
    selector = learn.semantic(chain)
    known = {**stored.embedders, **described}
    if selector is None or selector.embedder not in known:
        return learn.Learned()
    texts = [text for own in _texts(declared, stored).values() for text in own]
    return learn.embed_missing(database, models, known[selector.embedder], texts)


def _texts(declared: Declared, stored: Stored) -> dict[str, tuple[str, ...]]:
    """What questions are compared with, by route, once the file is applied."""
    routes = stored.routes if declared.routes is None else declared.routes
    return {name: route.texts for name, route in routes.items()}


def _applied(
    link: Link,
    declared: Declared,
    described: Mapping[str, EmbedderRecord],
    learned: learn.Learned,
    dry_run: bool,
) -> Changes:
    stored = _stored(link)
    if any(record.name not in described for record in undescribed(declared, stored.embedders)):
        raise CatalogError("The embedders of this database were changed by others just now. Apply the file again.")
    check(declared, stored)
    _check_expressions(link, declared)
    changes = Changes(difference(declared, stored, described), dry_run)
    _write_embedders(link, changes, described)
    _write_collections(link, changes, declared)
    _write_profiles(link, changes, declared)
    _write_routes(link, changes, declared)
    chain = stored.selectors if declared.selectors is None else declared.selectors
    if changes.named("selectors", "change"):
        _write_selectors(link, chain)
    if changes.named("selectors", "change") or changes.named("route", "create", "change", "drop"):
        learn.write(link, learn.semantic(chain), _texts(declared, stored), learned)
    _write_aliases(link, changes, declared)
    for name in changes.named("profile", "drop"):  # last: until now a route may have used it
        link.rows(DROP_PROFILE, name=name)
    return changes


def _stored(link: Link) -> Stored:
    aliases = link.rows(catalog.ALIASES)
    profiles = link.rows(catalog.PROFILES)
    routes = {row["name"]: _route(row) for row in link.rows(ROUTES)}
    routing = (link.rows(ROUTING))[0]
    asked = routes[routing["route"]].collections if routing["route"] else ()
    routes.pop(DEFAULT_ROUTE, None)
    return Stored(
        embedders={e.name: e for e in catalog.embedders(link)},
        collections={c.name: c for c in catalog.collections(link)},
        profiles={row["name"]: row["settings"] for row in profiles},
        routes=routes,
        default=Default(routing["policy"], asked),
        default_route=routing["route"],
        aliases={row["alias"]: row["collection"] for row in aliases},
        text_configs=frozenset(row["name"] for row in link.rows(TEXT_CONFIGS)),
        selectors=tuple(catalog.ready(row).selector for row in link.rows(catalog.SELECTORS)),
        classifier=(link.rows(ACTIVE))[0]["id"],
    )


def _route(row: Row) -> Route:
    return Route(
        name=row["name"],
        collections=tuple(row["collections"]),
        rules=tuple(Rule(**rule) for rule in row["rules"]),
        priority=row["priority"],
        profile=row["profile"],
        description=row["description"],
        enabled=row["enabled"],
        examples=tuple(row["examples"]),
    )


def _check_expressions(link: Link, declared: Declared) -> None:
    for route in (declared.routes or {}).values():
        for rule in route.rules:
            try:
                link.rows(TRY_EXPRESSION, expression=rule.expression)
            except StatementFailed as error:
                if error.sqlstate != INVALID_EXPRESSION:
                    raise
                raise SettingsError(
                    f"routes.{route.name}.match.{rule.mode}: PostgreSQL cannot read the regular expression "
                    f"{rule.pattern!r}: {error.__cause__}"
                ) from error


def _write_embedders(link: Link, changes: Changes, described: Mapping[str, EmbedderRecord]) -> None:
    for name in changes.named("embedder", "create"):
        catalog.add_embedder(link, described[name])
    for name in changes.named("embedder", "change"):
        record = described[name]
        link.rows(
            UPDATE_EMBEDDER,
            name=name,
            kind=record.kind,
            model=record.model,
            query_prefix=record.query_prefix,
            document_prefix=record.document_prefix,
            max_tokens=record.max_tokens,
            options=Jsonb(dict(record.options)),
        )


def _write_collections(link: Link, changes: Changes, declared: Declared) -> None:
    for name in changes.named("collection", "create"):
        try:
            catalog.create(link, spec_of(name, declared.collections[name]))
        except SettingsError as error:
            raise type(error)(f"collections.{name}: {error}") from error
    for name, change in changes.named("collection", "change").items():
        catalog.alter(link, name, {key.removeprefix("index."): new for key, (_, new) in change.detail.items()})


def _write_profiles(link: Link, changes: Changes, declared: Declared) -> None:
    for name in changes.named("profile", "create", "change"):
        link.rows(WRITE_PROFILE, name=name, settings=Jsonb(dict((declared.profiles or {})[name])))


def _write_routes(link: Link, changes: Changes, declared: Declared) -> None:
    for name in changes.named("route", "create", "change"):
        _write_route(link, (declared.routes or {})[name])
    for change in changes.named("default", "change").values():
        _write_default(link, change, declared.default or Default("all"))
    for name in changes.named("route", "drop"):
        link.rows(DROP_ROUTE, name=name)


def _write_route(link: Link, route: Route) -> int:
    written = link.rows(
        WRITE_ROUTE,
        name=route.name,
        description=route.description,
        priority=route.priority,
        profile=route.profile,
        enabled=route.enabled,
    )
    route_id: int = written[0]["id"]
    link.rows(CLEAR_COLLECTIONS, route_id=route_id)
    link.rows(ADD_COLLECTIONS, route_id=route_id, collections=list(route.collections))
    link.rows(CLEAR_RULES, route_id=route_id)
    link.rows(
        ADD_RULES,
        route_id=route_id,
        modes=[rule.mode for rule in route.rules],
        kinds=[rule.kind for rule in route.rules],
        patterns=[rule.pattern for rule in route.rules],
        expressions=[rule.expression for rule in route.rules],
    )
    link.rows(CLEAR_EXAMPLES, route_id=route_id)
    link.rows(ADD_EXAMPLES, route_id=route_id, texts=list(route.examples))
    return route_id


def _write_selectors(link: Link, chain: Sequence[Selector]) -> None:
    link.rows(CLEAR_SELECTORS)
    for place, selector in enumerate(chain, 1):
        kept = Jsonb(settings_of(selector))
        link.rows(ADD_SELECTOR, place=place, kind=selector.kind, settings=kept, embedder=selector.embedder)


def _write_default(link: Link, change: Change, default: Default) -> None:
    """The collections of the default are a route without rules, which never matches by itself."""
    if default.policy == "route":
        route_id = _write_route(link, Route(change.name, default.collections))
        link.rows(WRITE_ROUTING, policy=default.policy, route_id=route_id)
        return
    link.rows(WRITE_ROUTING, policy=default.policy, route_id=None)
    link.rows(DROP_ROUTE, name=DEFAULT_ROUTE)


def _write_aliases(link: Link, changes: Changes, declared: Declared) -> None:
    for alias in changes.named("alias", "drop"):
        link.rows(DROP_ALIAS, alias=alias)
    for alias in changes.named("alias", "create", "change"):
        link.rows(WRITE_ALIAS, alias=alias, collection=(declared.aliases or {})[alias])
