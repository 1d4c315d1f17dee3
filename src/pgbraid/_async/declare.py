"""Making the catalogue what a file declares: models are asked first, then all is compared and written in one go.

What has to change is decided by `pgbraid.changes`; here it is only read, locked and done. A dry run does all of it and
then takes it back, so it finds every mistake that the real one would.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb

from pgbraid._async import catalog
from pgbraid._async.link import Database, Link, Row
from pgbraid.changes import Stored, check, difference, spec_of, undescribed
from pgbraid.compute import in_executor
from pgbraid.db.statements import statement
from pgbraid.declared import DEFAULT_ROUTE, Change, Changes, Declared, Default, Route, Rule, parse
from pgbraid.errors import CatalogError, SettingsError, StatementFailed
from pgbraid.models import Models
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
CLEAR_RULES = statement("declare/clear_rules")
ADD_RULES = statement("declare/add_rules")
WRITE_ROUTING = statement("declare/write_routing")
WRITE_ALIAS = statement("declare/write_alias")
DROP_ALIAS = statement("declare/drop_alias")
INVALID_EXPRESSION = "2201B"


class _OnlyLooked(Exception):
    def __init__(self, changes: Changes) -> None:
        super().__init__()
        self.changes = changes


async def apply(
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
    described = await _described(database, models, declared)
    try:
        async with database.link() as link, link.writing():
            await link.rows(LOCK)
            changes = await _applied(link, declared, described, dry_run)
            if dry_run:
                raise _OnlyLooked(changes)
    except _OnlyLooked as looked:
        return looked.changes
    return changes


async def _described(database: Database, models: Models, declared: Declared) -> dict[str, EmbedderRecord]:
    """The new and changed embedders as their models are. Loading takes long: no connection waits for it."""
    async with database.link() as link:
        stored = {e.name: e for e in await catalog.embedders(link)}
    described = {}
    for record in undescribed(declared, stored):
        try:
            described[record.name] = await in_executor(models.describe, record)
        except SettingsError as error:
            raise type(error)(f"embedders.{record.name}: {error}") from error
    return described


async def _applied(link: Link, declared: Declared, described: Mapping[str, EmbedderRecord], dry_run: bool) -> Changes:
    stored = await _stored(link)
    if any(record.name not in described for record in undescribed(declared, stored.embedders)):
        raise CatalogError("The embedders of this database were changed by others just now. Apply the file again.")
    check(declared, stored)
    await _check_expressions(link, declared)
    changes = Changes(difference(declared, stored, described), dry_run)
    await _write_embedders(link, changes, described)
    await _write_collections(link, changes, declared)
    await _write_profiles(link, changes, declared)
    await _write_routes(link, changes, declared)
    await _write_aliases(link, changes, declared)
    for name in changes.named("profile", "drop"):  # last: until now a route may have used it
        await link.rows(DROP_PROFILE, name=name)
    return changes


async def _stored(link: Link) -> Stored:
    aliases = await link.rows(catalog.ALIASES)
    profiles = await link.rows(catalog.PROFILES)
    routes = {row["name"]: _route(row) for row in await link.rows(ROUTES)}
    routing = (await link.rows(ROUTING))[0]
    asked = routes[routing["route"]].collections if routing["route"] else ()
    routes.pop(DEFAULT_ROUTE, None)
    return Stored(
        embedders={e.name: e for e in await catalog.embedders(link)},
        collections={c.name: c for c in await catalog.collections(link)},
        profiles={row["name"]: row["settings"] for row in profiles},
        routes=routes,
        default=Default(routing["policy"], asked),
        default_route=routing["route"],
        aliases={row["alias"]: row["collection"] for row in aliases},
        text_configs=frozenset(row["name"] for row in await link.rows(TEXT_CONFIGS)),
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
    )


async def _check_expressions(link: Link, declared: Declared) -> None:
    for route in (declared.routes or {}).values():
        for rule in route.rules:
            try:
                await link.rows(TRY_EXPRESSION, expression=rule.expression)
            except StatementFailed as error:
                if error.sqlstate != INVALID_EXPRESSION:
                    raise
                raise SettingsError(
                    f"routes.{route.name}.match.{rule.mode}: PostgreSQL cannot read the regular expression "
                    f"{rule.pattern!r}: {error.__cause__}"
                ) from error


async def _write_embedders(link: Link, changes: Changes, described: Mapping[str, EmbedderRecord]) -> None:
    for name in changes.named("embedder", "create"):
        await catalog.add_embedder(link, described[name])
    for name in changes.named("embedder", "change"):
        record = described[name]
        await link.rows(
            UPDATE_EMBEDDER,
            name=name,
            kind=record.kind,
            model=record.model,
            query_prefix=record.query_prefix,
            document_prefix=record.document_prefix,
            max_tokens=record.max_tokens,
            options=Jsonb(dict(record.options)),
        )


async def _write_collections(link: Link, changes: Changes, declared: Declared) -> None:
    for name in changes.named("collection", "create"):
        try:
            await catalog.create(link, spec_of(name, declared.collections[name]))
        except SettingsError as error:
            raise type(error)(f"collections.{name}: {error}") from error
    for name, change in changes.named("collection", "change").items():
        await catalog.alter(link, name, {key.removeprefix("index."): new for key, (_, new) in change.detail.items()})


async def _write_profiles(link: Link, changes: Changes, declared: Declared) -> None:
    for name in changes.named("profile", "create", "change"):
        await link.rows(WRITE_PROFILE, name=name, settings=Jsonb(dict((declared.profiles or {})[name])))


async def _write_routes(link: Link, changes: Changes, declared: Declared) -> None:
    for name in changes.named("route", "create", "change"):
        await _write_route(link, (declared.routes or {})[name])
    for change in changes.named("default", "change").values():
        await _write_default(link, change, declared.default or Default("all"))
    for name in changes.named("route", "drop"):
        await link.rows(DROP_ROUTE, name=name)


async def _write_route(link: Link, route: Route) -> int:
    written = await link.rows(
        WRITE_ROUTE,
        name=route.name,
        description=route.description,
        priority=route.priority,
        profile=route.profile,
        enabled=route.enabled,
    )
    route_id: int = written[0]["id"]
    await link.rows(CLEAR_COLLECTIONS, route_id=route_id)
    await link.rows(ADD_COLLECTIONS, route_id=route_id, collections=list(route.collections))
    await link.rows(CLEAR_RULES, route_id=route_id)
    await link.rows(
        ADD_RULES,
        route_id=route_id,
        modes=[rule.mode for rule in route.rules],
        kinds=[rule.kind for rule in route.rules],
        patterns=[rule.pattern for rule in route.rules],
        expressions=[rule.expression for rule in route.rules],
    )
    return route_id


async def _write_default(link: Link, change: Change, default: Default) -> None:
    """The collections of the default are a route without rules, which never matches by itself."""
    if default.policy == "route":
        route_id = await _write_route(link, Route(change.name, default.collections))
        await link.rows(WRITE_ROUTING, policy=default.policy, route_id=route_id)
        return
    await link.rows(WRITE_ROUTING, policy=default.policy, route_id=None)
    await link.rows(DROP_ROUTE, name=DEFAULT_ROUTE)


async def _write_aliases(link: Link, changes: Changes, declared: Declared) -> None:
    for alias in changes.named("alias", "drop"):
        await link.rows(DROP_ALIAS, alias=alias)
    for alias in changes.named("alias", "create", "change"):
        await link.rows(WRITE_ALIAS, alias=alias, collection=(declared.aliases or {})[alias])
