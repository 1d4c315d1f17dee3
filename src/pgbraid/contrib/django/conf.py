"""The dictionary PGBRAID of Django's settings, read once and checked: unknown keys and unusable values are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pgbraid.contrib.options import NAME, settings_in
from pgbraid.errors import SettingsError, nearest

OURS = ("DATABASE", "EMBEDDERS", "RERANKERS")
DJANGOS = {"dsn": "the entry of DATABASES that PGBRAID['DATABASE'] names", "server_dir": "DATABASES"}


@dataclass(frozen=True, slots=True)
class Conf:
    """What a site says of pgbraid: `database` is an alias of DATABASES, `embedders` and `rerankers` are dotted paths by
    name, `settings` are values of `pgbraid.Settings` by their names in lower case."""

    database: str = "default"
    embedders: Mapping[str, str] = field(default_factory=dict)
    rerankers: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@cache
def conf() -> Conf:
    """The site's settings. Raises SettingsError or UnknownOption."""
    from django.conf import settings

    return read(getattr(settings, NAME, {}))


def read(given: object) -> Conf:
    """The dictionary as a value. Raises SettingsError or UnknownOption, naming the key."""
    others = settings_in(given, OURS, DJANGOS)
    given = given if isinstance(given, Mapping) else {}
    return Conf(
        _alias(given.get("DATABASE", "default")),
        _paths("EMBEDDERS", given.get("EMBEDDERS", {})),
        _paths("RERANKERS", given.get("RERANKERS", {})),
        others,
    )


def _alias(given: object) -> str:
    from django.db import connections

    if not isinstance(given, str) or given not in connections:
        raise SettingsError(f"{NAME}['DATABASE'] is {given!r}. {nearest(str(given), connections)}")
    vendor = connections[given].vendor
    if vendor != "postgresql":
        raise SettingsError(f"{NAME}['DATABASE'] is {given!r}, which is {vendor}: pgbraid lives in PostgreSQL.")
    return given


def _paths(key: str, given: object) -> Mapping[str, str]:
    fits = isinstance(given, Mapping) and all(
        isinstance(name, str) and isinstance(path, str) and "." in path for name, path in given.items()
    )
    if not fits:
        raise SettingsError(f"{NAME}[{key!r}] gives dotted paths by name, such as 'shop.models.embed', not {given!r}.")
    return dict(given)  # type: ignore[call-overload,no-any-return]
