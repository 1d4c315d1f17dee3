"""The revisions, run: up, down and up again, at once from many processes, in somebody's transaction, half-way."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgbraid import schema
from pgbraid.errors import (
    ConnectionLost,
    ExtensionUnavailable,
    SchemaAhead,
    SchemaBehind,
    SchemaError,
    SchemaMissing,
    StatementFailed,
)
from pgbraid.schema_dump import normal

LEFT = """
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = 'pgbraid'
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS (
        SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
"""


def test_up_down_and_up_again_leaves_nothing_behind_and_makes_the_same(empty_database: str) -> None:
    assert schema.upgrade(empty_database) == schema.head()
    first = schema.dump(empty_database)
    assert schema.downgrade(empty_database, "base") == "base"
    with psycopg.connect(empty_database) as connection:
        assert connection.execute(LEFT).fetchall() == []
    assert schema.upgrade(empty_database) == schema.head()
    assert schema.dump(empty_database) == first


def test_every_revision_can_be_undone_to_what_was_before_it(empty_database: str) -> None:
    seen = {}
    for revision in schema.revisions():
        assert schema.upgrade(empty_database, revision) == revision
        seen[revision] = schema.dump(empty_database)
    for revision in reversed(schema.revisions()):
        assert schema.downgrade(empty_database, revision) == revision
        assert schema.dump(empty_database) == seen[revision]


def test_a_second_upgrade_changes_nothing(empty_database: str) -> None:
    schema.upgrade(empty_database)
    before = schema.dump(empty_database)
    assert schema.upgrade(empty_database) == schema.head()
    assert schema.dump(empty_database) == before


def test_eight_processes_may_upgrade_at_once(empty_database: str) -> None:
    program = "import sys; from pgbraid import schema; print(schema.upgrade(sys.argv[1]))"
    racers = [
        subprocess.Popen([sys.executable, "-c", program, empty_database], stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    said = [racer.communicate(timeout=180)[0] for racer in racers]
    assert said == [f"{schema.head()}\n"] * 8
    with psycopg.connect(empty_database) as connection:
        assert schema.check(connection).version == schema.head()


def test_a_caller_s_transaction_is_joined(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE TABLE public.mine (n int)")
        schema.upgrade(connection)
        assert schema.check(connection).version == schema.head()
        connection.rollback()
        with pytest.raises(SchemaMissing):
            schema.check(connection)
        assert connection.execute(LEFT).fetchall() == []


@pytest.mark.parametrize("autocommit", [True, False])
def test_on_an_idle_connection_the_upgrade_is_committed(empty_database: str, autocommit: bool) -> None:
    with psycopg.connect(empty_database, autocommit=autocommit, row_factory=psycopg.rows.dict_row) as connection:
        schema.upgrade(connection)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert connection.row_factory is psycopg.rows.dict_row
    with psycopg.connect(empty_database) as other:
        assert schema.check(other).version == schema.head()


def test_check_tells_what_it_found(conn: psycopg.Connection) -> None:
    state = schema.check(conn)
    assert state.version == state.head == schema.head()
    assert state.server_version == conn.info.server_version
    row = conn.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    assert row == (state.vector_version,) and state.vector_schema == "public"


def test_no_tables_is_told_with_the_command(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection, pytest.raises(SchemaMissing, match="pgbraid schema upgrade"):
        schema.check(connection)


def test_older_tables_are_told_with_the_command(empty_database: str) -> None:
    schema.upgrade(empty_database, schema.revisions()[0])
    with psycopg.connect(empty_database) as connection, pytest.raises(SchemaBehind, match="pgbraid schema upgrade"):
        schema.check(connection)


def test_newer_tables_are_told_and_never_touched(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE pgbraid.alembic_version SET version_num = '9999'")
        connection.commit()
        for act in (schema.check, schema.upgrade, lambda there: schema.downgrade(there, "base")):
            with pytest.raises(SchemaAhead, match="at 9999"):
                act(connection)


def test_an_upgrade_never_goes_down_and_a_downgrade_never_up(conn: psycopg.Connection) -> None:
    with pytest.raises(SchemaError, match="use downgrade"):
        schema.upgrade(conn, "base")
    schema.downgrade(conn, schema.revisions()[0])
    with pytest.raises(SchemaError, match="use upgrade"):
        schema.downgrade(conn, "head")


def test_an_unknown_revision_is_told_with_those_there_are(conn: psycopg.Connection) -> None:
    with pytest.raises(SchemaError, match=r"no revision 'haed'. Did you mean 'head'"):
        schema.upgrade(conn, "haed")


def test_a_server_that_is_not_there_is_told_without_a_password() -> None:
    with pytest.raises(ConnectionLost) as caught:
        schema.upgrade("host=/nowhere password=hush")
    assert "hush" not in str(caught.value)


def test_a_failing_revision_is_named_and_nothing_of_the_upgrade_stays(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA pgbraid CREATE TABLE document (n int)")
    with pytest.raises(StatementFailed, match=r"migrations/0002\.up") as caught:
        schema.upgrade(empty_database)
    assert caught.value.sqlstate == "42P07"
    with psycopg.connect(empty_database) as connection, pytest.raises(SchemaMissing):
        schema.check(connection)


def test_a_database_that_is_not_utf8_is_refused(server_dsn: str) -> None:
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE pgbraid_test_latin TEMPLATE template0 ENCODING LATIN1 LOCALE_PROVIDER libc LOCALE 'C'"
        )
        try:
            with pytest.raises(SchemaError, match=r"encoded in LATIN1.*ENCODING 'UTF8'"):
                schema.upgrade(make_conninfo(server_dsn, dbname="pgbraid_test_latin"))
        finally:
            connection.execute("DROP DATABASE pgbraid_test_latin WITH (FORCE)")


def test_pgvector_may_live_in_another_schema(empty_database: str, shared_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute('CREATE SCHEMA "odd ""one"; CREATE EXTENSION vector SCHEMA "odd ""one"')
        schema.upgrade(connection)
        assert schema.check(connection).vector_schema == 'odd "one'
    assert schema.dump(empty_database).replace('"odd ""one".', "public.") == schema.dump(shared_database)


def test_a_role_without_rights_is_told_what_to_ask_for_and_then_succeeds(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as dba:
        dba.execute("CREATE ROLE \"pgbraid test app\" LOGIN PASSWORD 'x'")
        try:
            app = make_conninfo(empty_database, user="pgbraid test app", password="x")
            with pytest.raises(ExtensionUnavailable, match=r"may not make.*as a superuser: CREATE EXTENSION vector;"):
                schema.upgrade(app)
            dba.execute("CREATE EXTENSION vector")
            with pytest.raises(SchemaError, match='CREATE SCHEMA pgbraid AUTHORIZATION "pgbraid test app";'):
                schema.upgrade(app)
            dba.execute('CREATE SCHEMA pgbraid AUTHORIZATION "pgbraid test app"')
            assert schema.upgrade(app) == schema.head()
            assert schema.downgrade(app, "base") == "base"
        finally:
            dba.execute('DROP OWNED BY "pgbraid test app"; DROP ROLE "pgbraid test app"')


def test_a_role_that_may_not_read_the_tables_is_told_what_to_ask_for(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as dba:
        dba.execute("CREATE ROLE pgbraid_test_reader")
        try:
            dba.execute("SET ROLE pgbraid_test_reader")
            with pytest.raises(SchemaError, match='GRANT USAGE ON SCHEMA pgbraid TO "pgbraid_test_reader"'):
                schema.check(dba)
            dba.execute("RESET ROLE; GRANT USAGE ON SCHEMA pgbraid TO pgbraid_test_reader")
            dba.execute("GRANT SELECT ON ALL TABLES IN SCHEMA pgbraid TO pgbraid_test_reader")
            dba.execute("SET ROLE pgbraid_test_reader")
            assert schema.check(dba).version == schema.head()
        finally:
            dba.execute("RESET ROLE; DROP OWNED BY pgbraid_test_reader; DROP ROLE pgbraid_test_reader")


@pytest.mark.parametrize(("version", "refused"), [("0.7.4", True), ("0.8.0", False), ("0.10.0", False)])
def test_an_old_pgvector_is_refused_and_a_faulty_one_told(database: str, version: str, refused: bool) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(
            sql.SQL("UPDATE pg_catalog.pg_extension SET extversion = {} WHERE extname = 'vector'").format(version)
        )
        if refused:
            for act in (schema.check, schema.upgrade):
                with pytest.raises(ExtensionUnavailable, match=r"pgvector 0\.7\.4.*ALTER EXTENSION vector UPDATE"):
                    act(connection)
        else:
            assert any("0.8.4" in warning for warning in schema.check(connection).warnings) == (version == "0.8.0")


def test_a_dump_loses_its_noise_and_keeps_a_comment_in_a_function() -> None:
    noise = "--\n-- Name: f\n--\n\n\nSET x = 1;\n\\restrict abc\n"
    kept = "CREATE FUNCTION f()\n    AS $$\n    -- why\n$$;\n"
    assert normal(noise + kept + "\\unrestrict abc\n") == kept
