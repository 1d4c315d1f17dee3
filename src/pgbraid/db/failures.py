"""The one place where psycopg's errors become ours, with the file, line and column of the statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg

from pgbraid.db.statements import Statement
from pgbraid.errors import ConnectionLost, DatabaseError, SchemaMissing, StatementFailed


@contextmanager
def translated(statement: Statement | None = None) -> Iterator[None]:
    """Raise ours from psycopg's, the cause kept."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error, statement) from error


def translate(error: psycopg.Error, statement: Statement | None = None) -> DatabaseError | SchemaMissing:
    """What an error of psycopg means to a user of pgbraid."""
    name = statement.name if statement else ""
    state = error.sqlstate or ""
    if isinstance(error, psycopg.OperationalError) and (not state or (state[:2] in ("08", "57") and state != "57014")):
        return ConnectionLost(
            f"The connection to PostgreSQL cannot be made or was lost: {_short(error)}. Check that the server runs and "
            "that the DSN is right; what was not committed was not done and can be tried again."
        )
    if isinstance(error, pg.InvalidSchemaName) or (
        isinstance(error, pg.UndefinedTable) and "pgbraid.embedder" in str(error)
    ):
        return SchemaMissing("This database has no schema pgbraid. Run: pgbraid schema upgrade")
    where = _position(error, statement)
    place = f" at {where}" if where else f" in {name}" if name else ""
    return StatementFailed(f"PostgreSQL refused a statement{place}: {_short(error)} [{state}]", state, name, where)


def _short(error: psycopg.Error) -> str:
    diag = error.diag
    parts = [diag.message_primary or str(error).strip(), diag.message_detail, diag.message_hint]
    return " ".join(part for part in parts if part)


def _position(error: psycopg.Error, statement: Statement | None) -> str:
    """file:line:column of an error; the text sent has $1 for %(name)s, so the column is near, the line is exact."""
    position = error.diag.statement_position
    if statement is None or position is None or not statement.name or " " in statement.name:
        return ""
    before = statement.text[: int(position) - 1]
    line = before.count("\n") + statement.first_line
    column = len(before) - (before.rfind("\n") + 1) + 1
    return f"sql/{statement.name}.sql:{line}:{column}"
