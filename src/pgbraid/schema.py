"""The tables in the database: making them, bringing them up to date, and checking that they fit this version.

The revisions are plain SQL files in `migrations/`; Alembic keeps their order and writes the script, which is run here,
on a psycopg connection and in one transaction. What the tables mean is for the other rooms, and the partitions of a
collection are the catalogue's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.rows import tuple_row

from pgbraid.db.failures import translate, translated
from pgbraid.errors import (
    ExtensionUnavailable,
    SchemaAhead,
    SchemaBehind,
    SchemaError,
    SchemaMissing,
    StatementFailed,
    nearest,
)
from pgbraid.revisions import BASE, head, part, revisions, steps, write
from pgbraid.schema_dump import dump

__all__ = ["SchemaState", "check", "downgrade", "dump", "head", "place", "revisions", "sql", "upgrade"]
OLDEST_SERVER = 15
OLDEST_VECTOR = (0, 8, 0)
ADVISED_VECTOR = (0, 8, 4)
MAY_NOT = "42501"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """What `check` found. `version` and `head` are revisions; `server_version` is like 180006."""

    version: str
    head: str
    vector_version: str
    vector_schema: str
    server_version: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Facts:
    """The row of migrations/facts.sql, in its order; `version` is the revision, None before the first."""

    database: str
    role: str
    server: int
    encoding: str
    vector: str | None
    vector_schema: str | None
    vector_available: str | None
    readable: bool | None
    version: str | None = None


def upgrade(target: str | Connection[Any], revision: str = "head") -> str:
    """Bring the database to a revision and give it; nothing happens when it is there already.

    On a connection the caller's transaction is joined, or one is made and committed when none is open; a DSN gets a
    connection of its own. Any number of processes may do this at once. Raises SchemaError, ExtensionUnavailable,
    StatementFailed, ConnectionLost.
    """
    goal = _revision(revision)
    with _locked(target) as (connection, facts):
        _check_server(facts)
        facts = _with_vector(connection, facts)
        here = _here(facts)
        if _order(goal) < _order(here):
            raise SchemaError(f"Database {facts.database!r} is at {here}, which is after {goal}: use downgrade.")
        if here == BASE != goal:
            _begin(connection, facts)
        for step in revisions()[_order(here) : _order(goal)]:
            _run(connection, write(here, step, facts.vector_schema or "public"), f"migrations/{step}.up")
            here = step
        return here


def downgrade(target: str | Connection[Any], revision: str) -> str:
    """Take the database back to an older revision, `base` for none; the data of what is dropped are lost.

    Connections and errors are as for `upgrade`. pgvector stays, since others may use it.
    """
    goal = _revision(revision)
    with _locked(target) as (connection, facts):
        here = _here(facts)
        if _order(goal) > _order(here):
            raise SchemaError(f"Database {facts.database!r} is at {here}, which is before {goal}: use upgrade.")
        while here != goal:
            below = (BASE, *revisions())[_order(here) - 1]
            _run(connection, write(here, below, facts.vector_schema or "public"), f"migrations/{here}.down")
            here = below
        if here == BASE and facts.version is not None:
            _run(connection, part("end.sql"), "migrations/end")
        return here


def sql(start: str = BASE, to: str = "head", vector_schema: str = "public") -> str:
    """What `upgrade` runs, as one script for psql: for a DBA who wants to read it, or who has the rights for it.

    `start` is the revision that the database is at. `vector_schema` is the schema that pgvector is in; the script
    makes it in `public` when it is nowhere.
    """
    at, goal = _revision(start), _revision(to)
    if _order(goal) < _order(at):
        raise SchemaError(f"{goal} is before {at}: a script only goes up.")
    return "\n".join(["BEGIN;\n", steps(at, goal, vector_schema), "COMMIT;\n"])


def place(connection: Connection[Any]) -> tuple[str, str]:
    """The revision that a database is at, and the schema that pgvector is in or will be made in."""
    facts = _facts(connection)
    return _here(facts), facts.vector_schema or "public"


def check(target: str | Connection[Any]) -> SchemaState:
    """Whether this database, named by a DSN or reached over a connection, is ready for this version of pgbraid.

    One or two small queries. Raises SchemaMissing, SchemaBehind, SchemaAhead, ExtensionUnavailable or SchemaError,
    each with what to do, and ConnectionLost.
    """
    with _connected(target) as connection:
        facts = _facts(connection)
    _check_server(facts)
    here = _here(facts)
    if here == BASE:
        raise SchemaMissing(f"Database {facts.database!r} has no pgbraid tables yet. Run: pgbraid schema upgrade")
    if here != head():
        raise SchemaBehind(
            f"The pgbraid tables in database {facts.database!r} are at {here}, and this version of pgbraid needs "
            f"{head()}. Run: pgbraid schema upgrade"
        )
    vector = _checked_vector(facts)
    schema = facts.vector_schema or ""
    return SchemaState(here, head(), vector, schema, facts.server, tuple(_warnings(vector)))


@contextmanager
def _locked(target: str | Connection[Any]) -> Iterator[tuple[Connection[Any], _Facts]]:
    """A transaction that is alone in changing this schema, and the facts as they are then."""
    with _connected(target) as connection, _told("migrations"), connection.transaction():
        _run(connection, part("lock.sql"), "migrations/lock")
        yield connection, _facts(connection)


@contextmanager
def _connected(target: str | Connection[Any]) -> Iterator[Connection[Any]]:
    if isinstance(target, Connection):
        yield target
        return
    with translated():
        connection = psycopg.connect(target)
    with connection:
        yield connection


@contextmanager
def _told(statement: str) -> Iterator[None]:
    """psycopg's errors as ours, with the name of the file."""
    try:
        yield
    except psycopg.Error as error:
        ours = translate(error)
        if isinstance(ours, StatementFailed):
            ours = StatementFailed(f"{statement}: {ours}", ours.sqlstate, statement)
        raise ours from error


def _run(connection: Connection[Any], text: str, name: str) -> tuple[Any, ...] | None:
    """Run a script as it is, whatever cursors the connection makes, and give the first row of its first statement."""
    with _told(name), psycopg.Cursor(connection, row_factory=tuple_row) as cursor:
        cursor.execute(text, prepare=False)
        return cursor.fetchone() if cursor.description else None


def _facts(connection: Connection[Any]) -> _Facts:
    facts = _Facts(*_run(connection, part("facts.sql"), "migrations/facts") or ())
    if facts.readable is False:
        role = _quoted(facts.role)
        raise SchemaError(
            f"Role {facts.role!r} may not read the tables of pgbraid in database {facts.database!r}. Ask their owner "
            f"for: GRANT USAGE ON SCHEMA pgbraid TO {role}; GRANT SELECT ON pgbraid.alembic_version TO {role}; "
            "what else a reader needs is in docs/how-to/tenants-and-roles.md."
        )
    row = _run(connection, part("version.sql"), "migrations/version") if facts.readable else None
    return replace(facts, version=row[0] if row else None)


def _revision(name: str) -> str:
    known = {"head": head(), BASE: BASE} | {revision: revision for revision in revisions()}
    if name not in known:
        raise SchemaError(f"There is no revision {name!r}. {nearest(name, known)}")
    return known[name]


def _order(revision: str) -> int:
    return (BASE, *revisions()).index(revision)


def _here(facts: _Facts) -> str:
    """The revision the database is at. Raises SchemaAhead when this version of pgbraid does not know it."""
    if facts.version is not None and facts.version not in revisions():
        raise SchemaAhead(
            f"The pgbraid tables in database {facts.database!r} are at {facts.version}, and this version of pgbraid "
            f"knows them up to {head()}. Run: pip install --upgrade pgbraid"
        )
    return facts.version or BASE


def _check_server(facts: _Facts) -> None:
    if facts.server // 10000 < OLDEST_SERVER:
        raise SchemaError(f"PostgreSQL {facts.server // 10000} is too old: pgbraid needs {OLDEST_SERVER} or newer.")
    if facts.encoding != "UTF8":
        raise SchemaError(
            f"Database {facts.database!r} is encoded in {facts.encoding}, and pgbraid needs UTF8. Make another one: "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;"
        )


def _with_vector(connection: Connection[Any], facts: _Facts) -> _Facts:
    """Make sure that pgvector is in the database and new enough; made when it is only installed."""
    if facts.vector is None:
        major = facts.server // 10000
        if facts.vector_available is None:
            raise ExtensionUnavailable(
                f"The server of database {facts.database!r} has no pgvector. Ask its DBA to install it "
                f"(Debian, Ubuntu: postgresql-{major}-pgvector; Red Hat: pgvector_{major}; "
                f"Docker: pgvector/pgvector:pg{major}) and then to run in database {facts.database!r}, as a superuser: "
                "CREATE EXTENSION vector;"
            )
        try:
            _run(connection, part("extension.sql"), "migrations/extension")
        except StatementFailed as error:
            why = "may not" if error.sqlstate == MAY_NOT else "cannot"
            raise ExtensionUnavailable(
                f"Role {facts.role!r} {why} make the extension vector in database {facts.database!r} "
                f"({error.sqlstate}). Ask the DBA to run there, as a superuser: CREATE EXTENSION vector;"
            ) from error
        facts = _facts(connection)
    _checked_vector(facts)
    return facts


def _checked_vector(facts: _Facts) -> str:
    if facts.vector is None:
        raise ExtensionUnavailable(
            f"Database {facts.database!r} has lost pgvector. Ask the DBA to run there: CREATE EXTENSION vector;"
        )
    if _numbers(facts.vector) < OLDEST_VECTOR:
        needed = ".".join(map(str, OLDEST_VECTOR))
        raise ExtensionUnavailable(
            f"pgvector {facts.vector} in database {facts.database!r} is too old: pgbraid needs {needed} or newer. "
            f"Installed on the server is {facts.vector_available or 'none'}; when that is new enough, run there: "
            "ALTER EXTENSION vector UPDATE;"
        )
    return facts.vector


def _begin(connection: Connection[Any], facts: _Facts) -> None:
    try:
        _run(connection, part("begin.sql"), "migrations/begin")
    except StatementFailed as error:
        if error.sqlstate != MAY_NOT:
            raise
        raise SchemaError(
            f"Role {facts.role!r} may not make the schema pgbraid in database {facts.database!r}. Ask the DBA to run "
            f"there: CREATE SCHEMA pgbraid AUTHORIZATION {_quoted(facts.role)};"
        ) from error


def _warnings(vector: str) -> Iterator[str]:
    if _numbers(vector) < ADVISED_VECTOR:
        advised = ".".join(map(str, ADVISED_VECTOR))
        yield f"pgvector {vector} works, but {advised} and newer repair faults of its indexes: update it."


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _quoted(role: str) -> str:
    return '"' + role.replace('"', '""') + '"'
