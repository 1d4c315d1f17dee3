"""`up`, `down`, `status`, `psql`: the embedded server, and a way into the database that is meant."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from pgbraid.cli.door import command, reachable, settings_for
from pgbraid.cli.options import AsJson, Directory, Dsn
from pgbraid.cli.output import facts, note, print_json


def register(app: typer.Typer) -> None:
    """Add the commands."""
    panel = {"rich_help_panel": "Embedded server"}
    command(app, "up", **panel)(up)
    command(app, "down", **panel)(down)
    command(app, "status", **panel)(status)
    command(app, "psql", context_settings={"ignore_unknown_options": True}, **panel)(psql)


def up(directory: Directory = None, as_json: AsJson = False) -> None:
    """Start the embedded PostgreSQL and bring its tables up to date."""
    from pgbraid import schema, server

    running = server.up(settings_for(None, directory).server_dir)
    version = schema.upgrade(running.dsn)
    if as_json:
        print_json(
            {"directory": running.directory, "dsn": running.dsn, "pid": running.pid, "version": running.version,
             "schema": version}
        )  # fmt: skip
        return
    facts(
        {"PostgreSQL": f"{running.version}, process {running.pid}", "directory": running.directory,
         "dsn": running.dsn, "schema": version}
    )  # fmt: skip


def down(directory: Directory = None, as_json: AsJson = False) -> None:
    """Stop the embedded PostgreSQL; its data stay."""
    from pgbraid import server

    where = settings_for(None, directory).server_dir.absolute()
    stopped = server.down(where)
    if as_json:
        print_json({"directory": where, "stopped": stopped})
    else:
        note(f"{'stopped' if stopped else 'did not run'}: {where}")


def status(dsn: Dsn = None, directory: Directory = None, as_json: AsJson = False) -> None:
    """Say which database is meant, and how it stands. Starts nothing."""
    settings = settings_for(dsn, directory)
    found = _given(settings.dsn) if settings.dsn else _embedded(settings.server_dir)
    print_json(found) if as_json else facts(found)


def _given(dsn: str) -> dict[str, Any]:
    from pgbraid import schema
    from pgbraid.settings import safe_dsn

    state = schema.check(dsn)
    server = f"{state.server_version // 10000}.{state.server_version % 10000}"
    return {"kind": "given", "dsn": safe_dsn(dsn), "version": server, "pgvector": state.vector_version,
            "schema": state.version}  # fmt: skip


def _embedded(directory: Any) -> dict[str, Any]:
    from pgbraid import server

    found = server.status(directory)
    return {"kind": "embedded", "directory": str(found.directory), "running": found.running, "pid": found.pid,
            "version": found.version, "dsn": found.dsn, "size": found.size}  # fmt: skip


def psql(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- PSQL-OPTIONS]", show_default=False)] = None,
    dsn: Dsn = None,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Open psql on the database that is meant; with --json say how it would be opened."""
    from pgbraid import server

    target = reachable(settings_for(dsn, directory))
    line = [*server.psql_command(target), *(arguments or [])]
    if as_json:
        print_json({"command": line})
        return
    os.execvpe(line[0], line, {**os.environ, **server.psql_environment(target)})  # noqa: S606 - to become psql is the point
