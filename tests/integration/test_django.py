"""pgbraid in a Django site: its connection, its transactions, its migrations, its checks, its commands."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.test import AsyncClient, Client, override_settings
from psycopg.pq import TransactionStatus

import pgbraid
from fix_braid import HANDBOOK, documents, ids, made_of, rows
from fix_django import point
from pgbraid import Document, EmbedderRecord, schema
from pgbraid.contrib.django import async_braid, braid
from pgbraid.contrib.django.conf import read
from pgbraid.errors import ConnectionLost, SettingsError, StatementFailed, UnknownOption
from pgbraid.revisions import revisions

MIGRATIONS = Path(pgbraid.__file__).parent / "contrib" / "django" / "migrations"
NEW = Document("new", "Sabbaticals are granted after five years of service.")
FUNCTION = EmbedderRecord("words", "callable", "words", 2, fingerprint="another")


@pytest.fixture
def notes(site: str) -> str:
    """The site with the collection `notes`."""
    made_of(braid())
    braid().ingest("notes", documents(HANDBOOK))
    return site


def stored(dsn: str) -> set[str]:
    return {row[0] for row in rows(dsn, "SELECT external_id FROM pgbraid.document WHERE tenant = ''")}


def checked(**options: Any) -> list[tuple[str, str]]:
    from django.core.checks import run_checks

    return [(str(m.id), m.msg) for m in run_checks(databases=["default"], **options) if str(m.id).startswith("pgbraid")]


def command(*words: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("pgbraid", *words, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


# ── the connection and its transactions ────────────────────────────────────────────────────────────────────


def test_an_ingest_is_undone_with_the_block_that_it_stands_in(notes: str) -> None:
    with pytest.raises(ValueError), transaction.atomic():
        braid().ingest("notes", [NEW])
        assert "new" in ids(braid().search("sabbaticals"))
        raise ValueError
    assert stored(notes) == set(HANDBOOK)
    with transaction.atomic():
        braid().ingest("notes", [NEW])
        assert "new" not in stored(notes)
    assert "new" in stored(notes)


def test_an_inner_block_undoes_only_its_own(notes: str) -> None:
    with transaction.atomic():
        braid().ingest("notes", [NEW])
        with pytest.raises(ValueError), transaction.atomic():
            braid().ingest("notes", [Document("inner", "Umbrellas are lent.")])
            raise ValueError
    assert stored(notes) == {*HANDBOOK, "new"}


def test_work_is_done_on_the_very_connection_of_django(notes: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id(), pg_backend_pid()")
        before = cursor.fetchone()
        braid().ingest("notes", [NEW])
        cursor.execute("SELECT pg_current_xact_id(), pg_backend_pid()")
        assert cursor.fetchone() == before
        cursor.execute("SELECT xmin::text FROM pgbraid.document WHERE external_id = 'new'")
        assert cursor.fetchone() is not None
    assert len(rows(notes, "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()")) == 2


def test_a_search_that_fails_leaves_the_block_usable(notes: str) -> None:
    with transaction.atomic():
        braid().ingest("notes", [NEW])
        with pytest.raises(pgbraid.errors.NoSuchCollection):
            braid().search("x", collections="nots")
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    assert "new" in stored(notes)


def test_a_block_that_must_be_rolled_back_is_refused_as_django_does(notes: str) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        with pytest.raises(ValueError), transaction.atomic(savepoint=False):
            raise ValueError
        with pytest.raises(StatementFailed, match="must be rolled back"):
            braid().ingest("notes", [NEW])
        connection.cursor().execute("SELECT 1")
    assert "new" not in stored(notes)
    assert "leave" in ids(braid().search("annual leave"))


def test_outside_a_block_every_act_commits_and_nothing_stays_open(notes: str) -> None:
    assert connection.connection.info.transaction_status == TransactionStatus.IDLE
    braid().ingest("notes", [NEW])
    assert "new" in stored(notes) and connection.connection.info.transaction_status == TransactionStatus.IDLE


def _terminated(dsn: str, pid: int) -> None:
    rows(dsn, "SELECT pg_terminate_backend(%s, 5000)", pid)


def test_a_connection_lost_outside_a_block_is_replaced(notes: str) -> None:
    braid().search("leave")
    lost = connection.connection
    _terminated(notes, lost.info.backend_pid)
    assert "leave" in ids(braid().search("annual leave"))
    assert connection.connection is not lost and lost.closed


def test_a_connection_lost_in_a_block_is_told_and_the_next_request_has_another(notes: str) -> None:
    with pytest.raises((ConnectionLost, DatabaseError)), transaction.atomic():
        braid().ingest("notes", [NEW])
        _terminated(notes, connection.connection.info.backend_pid)
        with pytest.raises(ConnectionLost):
            braid().search("leave")
        assert connection.errors_occurred
        with pytest.raises(ConnectionLost, match="closed"):
            braid().search("leave")
    close_old_connections()
    assert connection.connection is None or not connection.connection.closed
    assert "leave" in ids(braid().search("annual leave")) and "new" not in stored(notes)


def test_a_braid_may_be_shared_by_threads_each_on_its_own_connection(notes: str) -> None:
    shared, pids, found = braid(), set(), []

    def work() -> None:
        from django.db import connections

        point("default", notes)
        with transaction.atomic():
            found.append(ids(shared.search("annual leave"))[0])
            pids.add(connections["default"].connection.info.backend_pid)
            barrier.wait(30)
        connections.close_all()

    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["leave"] * 4 and len(pids) == 4


# ── views ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_view_searches_and_its_upload_is_undone_when_it_fails(notes: str) -> None:
    client = Client()
    assert client.get("/search/", {"q": "annual leave"}).json()["ids"][0] == "leave"
    with pytest.raises(ValueError):
        client.get("/upload/", {"fail": "1"})
    assert "uploaded" not in stored(notes)
    assert client.get("/upload/").json()["ids"][0] == "uploaded"
    assert "uploaded" in stored(notes)


@pytest.mark.parametrize("page", ["/search-later/", "/search-apart/"])
def test_an_async_view_searches(notes: str, page: str) -> None:
    async def asked() -> Any:
        return await AsyncClient().get(page, {"q": "annual leave"})

    with override_settings(PGBRAID={}):  # from here on the settings of this thread count
        point("default", notes)
        assert asyncio.run(asked()).json()["ids"][0] == "leave"


def test_an_async_braid_sees_what_is_committed(notes: str) -> None:
    async def asked() -> list[str]:
        async with async_braid() as opened:
            return ids(await opened.search("sabbaticals"))

    with transaction.atomic():
        braid().ingest("notes", [NEW])
        assert "new" not in asyncio.run(asked())
    assert "new" in asyncio.run(asked())


def test_an_async_braid_takes_the_role_that_django_assumes(site: str) -> None:
    role = f"reader_{psycopg.conninfo.conninfo_to_dict(site)['dbname']}"
    with psycopg.connect(site, autocommit=True) as other:
        other.execute(f'CREATE ROLE "{role}"'.encode())
    from pgbraid.contrib.django.connection import dsn_of

    options = connection.settings_dict["OPTIONS"]
    options["assume_role"] = role
    try:
        with psycopg.connect(dsn_of("default")) as own:
            assert own.execute("SELECT current_user").fetchone() == (role,)
    finally:
        del options["assume_role"]
        with psycopg.connect(site, autocommit=True) as other:
            other.execute(f'DROP ROLE "{role}"'.encode())


# ── migrations ─────────────────────────────────────────────────────────────────────────────────────────────


def test_every_revision_has_its_migration() -> None:
    stems = sorted(path.stem for path in MIGRATIONS.glob("0*.py"))
    assert tuple(stem[:4] for stem in stems) == revisions()
    for before, stem in zip([None, *stems], stems, strict=False):
        text = (MIGRATIONS / f"{stem}.py").read_text()
        assert f'Revision("{stem[:4]}")' in text
        assert before is None or f'("pgbraid", "{before}")' in text


def test_django_makes_the_schema_that_alembic_makes_and_takes_it_back(bare_site: str, shared_database: str) -> None:
    call_command("migrate", "pgbraid", verbosity=0)
    connection.close()
    assert schema.dump(bare_site) == schema.dump(shared_database)
    assert schema.check(bare_site).version == schema.head()
    call_command("migrate", "pgbraid", "0002", verbosity=0)
    assert rows(bare_site, "SELECT version_num FROM pgbraid.alembic_version") == [("0002",)]
    call_command("migrate", "pgbraid", "zero", verbosity=0)
    assert rows(bare_site, "SELECT 1 FROM pg_namespace WHERE nspname = 'pgbraid'") == []


def test_the_two_runners_find_what_the_other_has_made(bare_site: str) -> None:
    schema.upgrade(bare_site, "0002")
    call_command("migrate", "pgbraid", verbosity=0)
    assert schema.check(bare_site).version == schema.head()
    schema.downgrade(bare_site, "0001")
    call_command("migrate", "pgbraid", "0001", verbosity=0)
    assert rows(bare_site, "SELECT version_num FROM pgbraid.alembic_version") == [("0001",)]
    assert schema.upgrade(bare_site) == schema.head()
    call_command("migrate", "pgbraid", verbosity=0)
    assert schema.check(bare_site).version == schema.head()


def test_django_shows_the_sql_and_its_script_makes_the_schema(bare_site: str, shared_database: str) -> None:
    for path in sorted(MIGRATIONS.glob("0*.py")):
        out = io.StringIO()
        call_command("sqlmigrate", "pgbraid", path.stem, stdout=out, no_color=True)
        assert out.getvalue().startswith("BEGIN;")
        with psycopg.connect(bare_site, autocommit=True) as other:
            other.execute(out.getvalue().encode())
    assert schema.dump(bare_site) == schema.dump(shared_database)
    for path in sorted(MIGRATIONS.glob("0*.py"), reverse=True):
        out = io.StringIO()
        call_command("sqlmigrate", "pgbraid", path.stem, backwards=True, stdout=out, no_color=True)
        with psycopg.connect(bare_site, autocommit=True) as other:
            other.execute(out.getvalue().encode())
    assert rows(bare_site, "SELECT 1 FROM pg_namespace WHERE nspname = 'pgbraid'") == []


def test_a_database_that_is_not_the_one_of_pgbraid_gets_nothing(bare_site: str) -> None:
    point("other", bare_site)
    call_command("migrate", "pgbraid", database="other", verbosity=0)
    point("other", None)
    assert rows(bare_site, "SELECT 1 FROM pg_namespace WHERE nspname = 'pgbraid'") == []


def test_the_models_need_no_migration_of_djangos_own(site: str) -> None:
    call_command("makemigrations", "pgbraid", check=True, dry_run=True, verbosity=0)


# ── settings and checks ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"EMBEDERS": {}}, UnknownOption, "Did you mean 'EMBEDDERS'?"),
        ({"DSN": "postgresql://x"}, UnknownOption, "use the entry of DATABASES"),
        ({"DATABASE": "defalt"}, SettingsError, "Did you mean 'default'?"),
        ({"EMBEDDERS": {"h": 3}}, SettingsError, "dotted paths by name"),
        ([], SettingsError, "is a dictionary"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(
    django_ready: None, given: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match="PGBRAID") as raised:
        read(given)
    assert said in str(raised.value)
    with override_settings(PGBRAID=given):
        assert [(i, said in message) for i, message in checked()] == [("pgbraid.E001", True)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"POOL_MAX": 0}, "pool_max"),
        ({"EMBEDDERS": {"h": "fix_django.nothing"}}, "PGBRAID['EMBEDDERS']['h'] is 'fix_django.nothing'"),
        ({"RERANKERS": {"r": "no_such_module.x"}}, "cannot be imported"),
    ],
)
def test_a_value_that_cannot_be_used_is_found_by_the_checks(site: str, given: Any, said: str) -> None:
    with override_settings(PGBRAID=given):
        assert [(i, said in message) for i, message in checked()] == [("pgbraid.E001", True)]


def test_settings_reach_what_they_are_for(site: str) -> None:
    with override_settings(PGBRAID={"RERANK_CACHE": 7, "POOL_MAX": 3, "EMBEDDERS": {"words": "fix_django.words"}}):
        assert (braid().settings.rerank_cache, async_braid().settings.pool_max) == (7, 3)
        braid().add_embedder(EmbedderRecord("words", "callable", "words", 2))
        made_of(braid(), "own", embedder="words")
        braid().ingest("own", documents(HANDBOOK))
        assert braid().search("leave").passages
        assert braid() is braid() and checked() == []
    assert braid().settings.rerank_cache != 7


def test_the_checks_tell_of_a_schema_that_is_missing_or_behind(bare_site: str) -> None:
    assert [i for i, _ in checked()] == ["pgbraid.W001"]
    schema.upgrade(bare_site, "0001")
    assert [i for i, _ in checked()] == ["pgbraid.W001"]
    schema.upgrade(bare_site)
    assert checked() == []
    rows(bare_site, "UPDATE pgbraid.alembic_version SET version_num = '9999' RETURNING 1")
    assert [i for i, _ in checked()] == ["pgbraid.E002"]


def test_the_checks_tell_of_a_missing_extension_and_of_a_database_that_is_away(bare_site: str) -> None:
    schema.upgrade(bare_site)
    rows(bare_site, "UPDATE pg_extension SET extname = 'vektor' WHERE extname = 'vector' RETURNING 1")
    assert [(i, "CREATE EXTENSION" in m) for i, m in checked()] == [("pgbraid.E002", True)]
    point("default", None)
    assert [i for i, _ in checked()] == ["pgbraid.W002"]


def test_the_checks_tell_of_an_embedder_that_is_another_one(site: str) -> None:
    with override_settings(PGBRAID={"EMBEDDERS": {"words": "fix_django.words"}}):
        braid().add_embedder(EmbedderRecord("words", "callable", "words", 2))
        assert checked() == []
        rows(site, "UPDATE pgbraid.embedder SET fingerprint = 'another' WHERE name = 'words' RETURNING 1")
        assert [(i, "another model" in m) for i, m in checked()] == [("pgbraid.E003", True)]
    with override_settings(PGBRAID={}):
        assert [(i, "does not name it" in m) for i, m in checked()] == [("pgbraid.E003", True)]


# ── the command ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_command_works_in_the_transaction_that_is_open(notes: str, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text(json.dumps({"id": "new", "text": NEW.text}) + "\n")
    with pytest.raises(ValueError), transaction.atomic():
        command("ingest", "notes", str(tmp_path / "new.jsonl"))
        said = json.loads(command("search", "sabbaticals", "--json"))
        assert said["passages"][0]["external_id"] == "new"
        raise ValueError
    assert "new" not in stored(notes)
    assert json.loads(command("schema", "check", "--json"))["version"] == schema.head()


def test_a_command_that_fails_raises_with_its_exit_code(notes: str) -> None:
    with pytest.raises(CommandError) as raised:
        command("search", "x", "-c", "nots")
    assert raised.value.returncode == 6
    with pytest.raises(CommandError, match="no database 'nowhere'"):
        command("search", "x", database="nowhere")


def test_a_typed_dsn_counts_before_djangos(notes: str, database: str) -> None:
    assert json.loads(command("collection", "list", "--dsn", database, "--json")) == []
    assert len(json.loads(command("collection", "list", "--json"))) == 1
