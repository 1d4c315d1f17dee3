"""The way from a command to a braid: which database is meant, and what becomes of an error."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pgbraid.cli.output import fail, note
from pgbraid.errors import PgbraidError, SettingsError

if TYPE_CHECKING:
    from psycopg import Connection

    from pgbraid._sync.braid import Braid
    from pgbraid.schema import SchemaState
    from pgbraid.settings import Settings

GLOBAL_DSN: ContextVar[str | None] = ContextVar("GLOBAL_DSN", default=None)
Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Lent:
    """What an application lends to a command that it runs: its braid, its connection if it has one to share (else a
    DSN), and how to reach the database."""

    braid: Braid
    connection: Callable[[], str | Connection[Any]]
    dsn: Callable[[], str]


LENT: ContextVar[Lent | None] = ContextVar("LENT", default=None)


@contextmanager
def lending(braid: Braid, connection: Callable[[], str | Connection[Any]], dsn: Callable[[], str]) -> Iterator[None]:
    """Commands inside work on what the application lends, unless a DSN is typed."""
    before = LENT.set(Lent(braid, connection, dsn))
    try:
        yield
    finally:
        LENT.reset(before)


def command(group: typer.Typer, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
    """Register a command. What pgbraid raises on purpose becomes a line (or JSON) and an exit code.

    Everything else is a fault of pgbraid and keeps its traceback.
    """

    def register(work: Command) -> Command:
        @functools.wraps(work)
        def guarded(*arguments: Any, **options: Any) -> None:
            try:
                work(*arguments, **options)
            except PgbraidError as error:
                fail(error, bool(options.get("as_json")))
                raise typer.Exit(error.exit_code) from None

        return group.command(name, **settings)(guarded)

    return register


def settings_for(dsn: str | None, directory: Path | None = None) -> Settings:
    """The settings of this process, with a DSN given here or before the command."""
    from pgbraid.settings import Settings

    lent = _lent(dsn)
    return Settings.load(dsn=lent.dsn() if lent else dsn or GLOBAL_DSN.get(), server_dir=directory)


def _lent(dsn: str | None) -> Lent | None:
    return None if dsn or GLOBAL_DSN.get() else LENT.get()


def started(directory: Path) -> str:
    """The DSN of the embedded server, started when it does not run; says where it is."""
    from pgbraid import server

    before = server.status(directory)
    running = server.up(directory)
    verb = "" if before.running else "started: " if before.version else "made and started: "
    note(f"{verb}embedded PostgreSQL {running.version} in {running.directory} (no DSN was given)")
    return running.dsn


def reachable(settings: Settings) -> str:
    """The DSN of the database that is meant; without one, that of the embedded server."""
    return settings.dsn or started(settings.server_dir)


def target(dsn: str | None) -> str | Connection[Any]:
    """Where the tables of pgbraid are: the connection that was lent, else the DSN of the database that is meant."""
    lent = _lent(dsn)
    return lent.connection() if lent else reachable(settings_for(dsn))


@contextmanager
def opened(dsn: str | None, directory: Path | None = None) -> Iterator[Braid]:
    """A braid for one command. An embedded database is brought up to date first, another one is only checked."""
    from pgbraid import schema
    from pgbraid._sync.braid import Braid

    if lent := _lent(dsn):
        _warn(schema.check(lent.connection()))
        yield lent.braid
        return
    settings = settings_for(dsn, directory)
    if settings.dsn is None:
        settings = settings.model_copy(update={"dsn": started(settings.server_dir)})
        schema.upgrade(settings.dsn or "")
    else:
        _warn(schema.check(settings.dsn))
    braid = Braid(settings)
    try:
        yield braid
    finally:
        braid.close()


def _warn(state: SchemaState) -> None:
    for warning in state.warnings:
        note(f"warning: {warning}")


def confirm(question: str, yes: bool, as_json: bool) -> None:
    """Ask before something is lost. Raises SettingsError where nobody can be asked."""
    import sys

    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise SettingsError(f"{question} Nobody can be asked here: say --yes.")
    if not typer.confirm(question, err=True):
        raise typer.Abort()
