"""Django's connection for pgbraid: found anew for every act, since each thread has its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from pgbraid._sync.link import Database, Link
from pgbraid.borrow import connection_of
from pgbraid.db.failures import translate
from pgbraid.errors import StatementFailed
from pgbraid.settings import Settings


class DjangoDatabase(Database):
    """Links over the connection that this thread has for an alias of DATABASES."""

    def __init__(self, settings: Settings, alias: str) -> None:
        super().__init__(settings, alias, driver_connection)
        self._alias = alias

    @contextmanager
    def link(self) -> Iterator[Link]:
        """A connection for one act; when it is lost, Django is told, so that it opens another one.

        Raises ConnectionLost, and StatementFailed in an atomic block that must be rolled back.
        """
        try:
            with super().link() as link:
                yield link
        finally:
            wrapper = wrapper_of(self._alias)
            if wrapper.connection is not None and wrapper.connection.closed:
                wrapper.errors_occurred = True


def wrapper_of(alias: str) -> Any:
    """Django's connection wrapper of this thread."""
    from django.db import connections

    return connections[alias]


def driver_connection(alias: str) -> Connection[Any]:
    """The psycopg connection of this thread, opened when it is not.

    One that was lost is replaced as Django does it, unless a transaction was lost with it. Raises StatementFailed in an
    atomic block that must be rolled back, as Django refuses a query there, and ConnectionLost.
    """
    from django.db import Error

    wrapper = wrapper_of(alias)
    wrapper.validate_thread_sharing()
    if wrapper.in_atomic_block and wrapper.needs_rollback:
        raise StatementFailed(
            "This atomic block must be rolled back, since something failed in it: end the block first. [25P02]", "25P02"
        )
    if not wrapper.in_atomic_block and wrapper.connection is not None and wrapper.connection.closed:
        wrapper.close()
    try:
        return connection_of(wrapper)
    except Error as error:
        if isinstance(error.__cause__, psycopg.Error):
            raise translate(error.__cause__) from error
        raise


def dsn_of(alias: str) -> str:
    """How to reach the database of an alias without Django: for connections of our own, and for psql."""
    wrapper = wrapper_of(alias)
    understood = {option.keyword.decode() for option in Conninfo.get_defaults()}
    parts = {key: value for key, value in wrapper.get_connection_params().items() if key in understood}
    if role := wrapper.settings_dict["OPTIONS"].get("assume_role"):
        escaped = str(role).replace("\\", "\\\\").replace(" ", "\\ ")
        parts["options"] = f"{parts.get('options', '')} -c role={escaped}".strip()
    return make_conninfo("", **parts)
