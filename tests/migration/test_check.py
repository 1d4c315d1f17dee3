"""What `check` says of a database that is not ready, whether it is named or connected to, and on the command line."""

from __future__ import annotations

import psycopg
import pytest
from typer.testing import CliRunner

from pgbraid import schema
from pgbraid.cli.app import app
from pgbraid.errors import SchemaAhead, SchemaBehind, SchemaError, SchemaMissing


@pytest.fixture(params=["missing", "older", "newer"])
def unready(request: pytest.FixtureRequest, empty_database: str) -> tuple[str, type[SchemaError], str]:
    """A database that this version cannot use, and the error and the command that go with it."""
    if request.param == "missing":
        return empty_database, SchemaMissing, "pgbraid schema upgrade"
    if request.param == "older":
        schema.upgrade(empty_database, schema.revisions()[-2])
        return empty_database, SchemaBehind, "pgbraid schema upgrade"
    schema.upgrade(empty_database)
    with psycopg.connect(empty_database) as connection:
        connection.execute("UPDATE pgbraid.alembic_version SET version_num = '9999'")
    return empty_database, SchemaAhead, "pip install --upgrade pgbraid"


def test_it_is_told_with_what_to_do(unready: tuple[str, type[SchemaError], str]) -> None:
    dsn, kind, command = unready
    with pytest.raises(kind, match=command):
        schema.check(dsn)
    with psycopg.connect(dsn) as connection, pytest.raises(kind, match=command):
        schema.check(connection)
    ended = CliRunner().invoke(app, ["schema", "check", "--dsn", dsn])
    assert ended.exit_code == kind.exit_code == 5
    assert command in " ".join(ended.stderr.split())


def test_a_name_and_a_connection_tell_the_same(shared_database: str) -> None:
    with psycopg.connect(shared_database) as connection:
        assert schema.check(connection) == schema.check(shared_database)
