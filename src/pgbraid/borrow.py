"""Connections that an application hands in: the psycopg connection inside whatever it gave.

psycopg's own, SQLAlchemy's Session and Connection (and their async forms) and Django's connection wrapper are
understood, by what they are, without importing any of them.
"""

from __future__ import annotations

from typing import Any

import psycopg

from pgbraid.errors import SettingsError


def _unfit(given: object) -> SettingsError:
    return SettingsError(
        f"pgbraid works on psycopg 3 connections; what was handed in is "
        f"{type(given).__module__}.{type(given).__qualname__}. "
        "Hand in a psycopg connection, a SQLAlchemy Session or Connection of a postgresql+psycopg engine, "
        "or Django's connection."
    )


def connection_of(given: Any) -> psycopg.Connection[Any]:
    """The psycopg connection inside a sync connection or session. Raises SettingsError when there is none."""
    inner = given
    if _is(given, "sqlalchemy", "Session", "scoped_session"):
        inner = given.connection().connection.driver_connection
    elif _is(given, "sqlalchemy", "Connection"):
        if not given.in_transaction():
            given.begin()  # as its own execute() would: else it does not know that there is something to commit
        inner = given.connection.driver_connection
    elif _is(given, "django", "DatabaseWrapper", "ConnectionProxy") or hasattr(given, "ensure_connection"):
        given.ensure_connection()
        inner = given.connection
    if not isinstance(inner, psycopg.Connection):
        raise _unfit(inner)
    return inner


async def async_connection_of(given: Any) -> psycopg.AsyncConnection[Any]:
    """The psycopg connection inside an async connection or session. Raises SettingsError when there is none."""
    inner = given
    if _is(given, "sqlalchemy", "AsyncSession", "async_scoped_session"):
        inner = (await (await given.connection()).get_raw_connection()).driver_connection
    elif _is(given, "sqlalchemy", "AsyncConnection"):
        if not given.in_transaction():
            await given.begin()
        inner = (await given.get_raw_connection()).driver_connection
    if not isinstance(inner, psycopg.AsyncConnection):
        raise _unfit(inner)
    return inner


def _is(given: object, package: str, *names: str) -> bool:
    return any(c.__module__.split(".")[0] == package and c.__name__ in names for c in type(given).__mro__)
