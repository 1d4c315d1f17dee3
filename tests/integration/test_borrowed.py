"""Connections that an application lends: their transaction is joined, nothing is left in it, and they stay open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

import psycopg
import pytest
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from sqlalchemy import Engine, create_engine
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker
from sqlalchemy.pool import NullPool

import pgbraid
from fix_braid import HANDBOOK, documents, ids, made_of, rows
from fix_waits import blocked as waiting
from fix_waits import until_async
from pgbraid import Braid, Document, VectorIndex
from pgbraid.errors import ConnectionLost, NoSuchCollection, SettingsError, StatementFailed

NEW = Document("new", "Sabbaticals are granted after five years of service.")
LOADED = {**HANDBOOK, **{f"filler{i}": f"Rule {i} of the house says nothing about it." for i in range(20)}}
SETTINGS = ("enable_seqscan", "jit", "hnsw.ef_search", "hnsw.iterative_scan", "pgbraid.tenant", "pgbraid.upkeep")
Lend = Callable[[str], AbstractContextManager[Any]]


@pytest.fixture
def stocked_dsn(own: str) -> str:
    """A database with the collections `notes` (searched over the index) and `shared` (with tenants)."""
    with pgbraid.connect(own) as braid:
        made_of(braid, index=VectorIndex(exact_below=0))
        braid.ingest("notes", documents(LOADED))
        made_of(braid, "shared", tenants=True)
        braid.ingest("shared", documents(HANDBOOK), tenant="acme")
    return own


def engine(dsn: str, **options: Any) -> Engine:
    return create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool, **options)


@contextmanager
def psycopg_connection(dsn: str) -> Iterator[Any]:
    with psycopg.connect(dsn) as connection:
        yield connection


@contextmanager
def open_transaction(dsn: str) -> Iterator[Any]:
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT 1")
        yield connection


@contextmanager
def sqlalchemy_connection(dsn: str) -> Iterator[Any]:
    made = engine(dsn)
    with made.connect() as connection:
        yield connection
    made.dispose()


@contextmanager
def sqlalchemy_session(dsn: str) -> Iterator[Any]:
    made = engine(dsn)
    with Session(made) as session:
        yield session
    made.dispose()


@contextmanager
def sqlalchemy_scoped(dsn: str) -> Iterator[Any]:
    made = engine(dsn)
    registry = scoped_session(sessionmaker(made))
    yield registry
    registry.remove()
    made.dispose()


@contextmanager
def django_wrapper(dsn: str) -> Iterator[Any]:
    """Django's own connection, with its cursors that bind on the client and its jsonb that stays text."""
    parts = conninfo_to_dict(dsn)
    wrapper = DatabaseWrapper(
        {
            "NAME": parts["dbname"], "USER": parts.get("user") or "", "PASSWORD": parts.get("password") or "",
            "HOST": parts.get("host") or "", "PORT": parts.get("port") or "", "OPTIONS": {}, "CONN_MAX_AGE": 0,
            "CONN_HEALTH_CHECKS": False, "AUTOCOMMIT": True, "ATOMIC_REQUESTS": False, "TIME_ZONE": None,
        }
    )  # fmt: skip
    try:
        yield wrapper
    finally:
        wrapper.close()


@contextmanager
def django_atomic(dsn: str) -> Iterator[Any]:
    """The same in a transaction, as inside transaction.atomic()."""
    with django_wrapper(dsn) as wrapper:
        wrapper.set_autocommit(False)
        yield wrapper


JOINED = [
    psycopg_connection, open_transaction, sqlalchemy_connection, sqlalchemy_session, sqlalchemy_scoped, django_atomic,
]  # fmt: skip
joined = pytest.mark.parametrize("lend", JOINED, ids=lambda f: f.__name__)


pytestmark = pytest.mark.usefixtures("django_ready")


def driver(lent: Any) -> psycopg.Connection[Any]:
    """The psycopg connection in what was lent."""
    from pgbraid.borrow import connection_of

    return connection_of(lent)


def session_state(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """The settings that pgbraid makes for itself, as a connection sees them."""
    cursor = psycopg.Cursor(connection)
    state = {}
    for name in SETTINGS:
        cursor.execute("SELECT coalesce(current_setting(%s, true), '')", (name,))
        state[name] = (cursor.fetchone() or ("",))[0]
    return state


def stored(dsn: str) -> set[str]:
    """The external ids that others can see."""
    return {row[0] for row in rows(dsn, "SELECT external_id FROM pgbraid.document WHERE tenant = ''")}


# ── the transaction is the caller's ────────────────────────────────────────────────────────────────────────


@joined
def test_a_write_is_part_of_the_callers_transaction(lend: Lend, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid:
        with lend(stocked_dsn) as lent:
            mine = braid.using(lent)
            assert mine.ingest("notes", [NEW]).added == 1
            assert ids(mine.search("sabbaticals granted service", top_k=1, collections="notes")) == ["new"]
            assert mine.delete("notes", "leave") == ("leave",)
            assert "new" not in stored(stocked_dsn) and "leave" in stored(stocked_dsn)
            lent.rollback()
            assert mine.document("notes", "new") is None and mine.document("notes", "leave") is not None
        assert stored(stocked_dsn) == set(LOADED)


@joined
def test_what_the_caller_commits_is_there(lend: Lend, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, lend(stocked_dsn) as lent:
        braid.using(lent).ingest("notes", [NEW])
        lent.commit()
        assert stored(stocked_dsn) == {*LOADED, "new"}


@joined
def test_a_collection_made_in_a_transaction_goes_with_it(lend: Lend, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, lend(stocked_dsn) as lent:
        mine = braid.using(lent)
        made_of(mine, "draft")
        mine.ingest("draft", [NEW])
        assert ids(mine.search("sabbaticals", collections="draft")) == ["new"]
        lent.rollback()
        with pytest.raises(NoSuchCollection):
            mine.collection("draft")


def test_several_batches_and_tenants_fit_in_one_transaction(stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, psycopg.connect(stocked_dsn) as connection:
        connection.execute("SELECT set_config('pgbraid.tenant', 'the callers', true)")
        mine = braid.using(connection)
        loaded = [Document(f"d{i}", f"text number {i}", tenant=f"t{i % 2}") for i in range(9)]
        assert mine.ingest("shared", loaded, batch_size=2).added == 9
        assert session_state(connection)["pgbraid.tenant"] == "the callers"
        connection.rollback()
        assert braid.collection("shared").documents == len(HANDBOOK)


def test_upkeep_that_a_transaction_left_out_is_told(stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, psycopg.connect(stocked_dsn) as connection:
        (note,) = braid.using(connection).ingest("notes", [NEW]).notes
        assert "pgbraid lexical refresh notes" in note
        connection.commit()
        assert braid.ingest("notes", [Document("newer", "another text")]).notes == ()


def test_on_an_autocommit_connection_a_write_is_a_transaction_of_its_own(stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, psycopg.connect(stocked_dsn, autocommit=True) as connection:
        mine = braid.using(connection)
        mine.search("leave", collections="notes")
        assert connection.info.transaction_status == TransactionStatus.IDLE
        mine.ingest("notes", [NEW])
        assert connection.info.transaction_status == TransactionStatus.IDLE and "new" in stored(stocked_dsn)
        with connection.transaction(force_rollback=True):
            assert mine.delete("notes", "new") == ("new",)
        assert "new" in stored(stocked_dsn)


def test_an_engine_in_autocommit_mode_writes_at_once(stocked_dsn: str) -> None:
    made = engine(stocked_dsn, isolation_level="AUTOCOMMIT")
    with pgbraid.connect(stocked_dsn) as braid, made.connect() as connection:
        braid.using(connection).ingest("notes", [NEW])
        assert "new" in stored(stocked_dsn)
    made.dispose()


def test_djangos_connection_outside_of_a_transaction_writes_at_once(stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, django_wrapper(stocked_dsn) as wrapper:
        braid.using(wrapper).ingest("notes", [Document("new", NEW.text, metadata={"year": 5})])
        found = braid.using(wrapper).search("sabbaticals", filter={"year": 5}, collections="notes").passages[0]
        assert found.metadata == {"year": 5} and "new" in stored(stocked_dsn)
        assert driver(wrapper).info.transaction_status == TransactionStatus.IDLE


# ── nothing is left behind ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lend", [*JOINED, django_wrapper], ids=lambda f: f.__name__)
def test_nothing_is_set_after_a_search_or_a_write(lend: Lend, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, lend(stocked_dsn) as lent:
        connection = driver(lent)
        psycopg.Cursor(connection).execute("SELECT '[1]'::vector")  # pgvector's settings are known once it is loaded
        before = session_state(connection)
        mine = braid.using(lent)
        assert ids(mine.search("annual leave days", collections="notes", top_k=1, candidates=1)) == ["leave"]
        assert session_state(connection) == before
        assert ids(mine.search("annual leave", collections="shared", tenant="acme", top_k=1)) == ["leave"]
        assert session_state(connection) == before
        mine.ingest("shared", [NEW], tenant="acme")
        mine.document("shared", "new", tenant="acme")
        mine.delete("shared", "new", tenant="acme")
        assert session_state(connection) == before


def test_the_callers_own_settings_stay(stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, psycopg.connect(stocked_dsn) as connection:
        connection.execute("SELECT '[1]'::vector; SET LOCAL hnsw.ef_search = 17; SET LOCAL jit = on")
        connection.execute("SELECT set_config('pgbraid.tenant', 'acme', true)")
        before = session_state(connection)
        braid.using(connection).search("annual leave", collections="notes", candidates=1)
        braid.using(connection).ingest("notes", [NEW])
        assert session_state(connection) == before and before["hnsw.ef_search"] == "17"


@joined
def test_a_statement_that_fails_does_not_spoil_the_transaction(lend: Lend, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, lend(stocked_dsn) as lent:
        mine = braid.using(lent)
        mine.ingest("notes", [NEW])
        connection = driver(lent)
        before = session_state(connection)
        psycopg.Cursor(connection).execute("SET LOCAL lock_timeout = 1")
        refused(stocked_dsn, mine)
        psycopg.Cursor(connection).execute("SET LOCAL lock_timeout = 0")
        assert connection.info.transaction_status == TransactionStatus.INTRANS
        assert session_state(connection) == before
        assert ids(mine.search("sabbaticals granted service", top_k=1, collections="notes")) == ["new"]


def refused(dsn: str, mine: Braid) -> None:
    """A search and a write that the server refuses, since somebody else holds the tables."""
    table = mine.collection("shared").document_table
    with psycopg.connect(dsn) as other:
        other.execute(f"LOCK TABLE pgbraid.{table} IN ACCESS EXCLUSIVE MODE")
        for act in (
            lambda: mine.search("leave", collections="shared", tenant="acme"),
            lambda: mine.ingest("shared", [Document("x", "a text")], tenant="acme"),
        ):
            with pytest.raises(StatementFailed) as error:
                act()
            assert error.value.sqlstate == "55P03"


@pytest.mark.parametrize("lend", [psycopg_connection, sqlalchemy_session, django_atomic], ids=lambda f: f.__name__)
@pytest.mark.parametrize("act", ["search", "ingest", "document", "delete", "collections"])
def test_a_transaction_that_has_failed_is_named(lend: Lend, act: str, stocked_dsn: str) -> None:
    calls: dict[str, Callable[[Braid], Any]] = {
        "search": lambda b: b.search("leave"),
        "ingest": lambda b: b.ingest("notes", [NEW]),
        "document": lambda b: b.document("notes", "leave"),
        "delete": lambda b: b.delete("notes", "leave"),
        "collections": lambda b: b.collections(),
    }
    with pgbraid.connect(stocked_dsn) as braid, lend(stocked_dsn) as lent:
        with pytest.raises(psycopg.Error):
            psycopg.Cursor(driver(lent)).execute("SELECT 1/0")
        with pytest.raises(StatementFailed, match="roll it back first") as refused:
            calls[act](braid.using(lent))
        assert refused.value.sqlstate == "25P02"
        lent.rollback()
        calls[act](braid.using(lent))


# ── the connection is the caller's ─────────────────────────────────────────────────────────────────────────


@joined
def test_a_lent_connection_is_open_after_close(lend: Lend, stocked_dsn: str) -> None:
    braid = pgbraid.connect(stocked_dsn)
    with lend(stocked_dsn) as lent:
        with braid.using(lent) as mine:
            mine.search("leave", collections="notes")
        braid.close()
        assert not driver(lent).closed
        assert ids(mine.search("annual leave days", top_k=1, collections="notes")) == ["leave"]
    braid.close()


def test_a_braid_over_a_lent_connection_makes_none_of_its_own(stocked_dsn: str) -> None:
    with pgbraid.connect("postgresql://127.0.0.1:1/nowhere") as braid, psycopg.connect(stocked_dsn) as connection:
        assert ids(braid.using(connection).search("annual leave days", top_k=1, collections="notes")) == ["leave"]


@pytest.mark.parametrize("again", [False, True])
def test_a_closed_connection_is_refused(again: bool, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid:
        connection = psycopg.connect(stocked_dsn)
        if again:
            braid.using(connection).search("leave")
        connection.close()
        with pytest.raises(ConnectionLost, match="closed"):
            braid.using(connection).search("leave")


@pytest.mark.parametrize("given", [None, "postgresql://x", 5, object()])
def test_what_holds_no_psycopg_connection_is_refused(given: Any, stocked_dsn: str) -> None:
    with pgbraid.connect(stocked_dsn) as braid, pytest.raises(SettingsError, match="Hand in a psycopg connection"):
        braid.using(given).search("leave")


def test_a_connection_of_the_other_kind_is_refused(stocked_dsn: str) -> None:
    async def run() -> None:
        async with pgbraid.connect_async(stocked_dsn) as braid:
            with psycopg.connect(stocked_dsn) as connection, pytest.raises(SettingsError, match="Hand in"):
                await braid.using(connection).search("leave")

    asyncio.run(run())


# ── async ──────────────────────────────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def async_psycopg(dsn: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        yield connection


@asynccontextmanager
async def async_connection(dsn: str) -> AsyncIterator[Any]:
    made = async_engine(dsn)
    async with made.connect() as connection:
        yield connection
    await made.dispose()


@asynccontextmanager
async def async_session(dsn: str) -> AsyncIterator[Any]:
    made = async_engine(dsn)
    async with async_sessionmaker(made)() as session:
        assert isinstance(session, AsyncSession)
        yield session
    await made.dispose()


def async_engine(dsn: str) -> Any:
    async def connect() -> Any:
        return await psycopg.AsyncConnection.connect(dsn)

    return create_async_engine("postgresql+psycopg://", async_creator=connect, poolclass=NullPool)


@pytest.mark.parametrize("lend", [async_psycopg, async_connection, async_session], ids=lambda f: f.__name__)
def test_async_work_joins_the_callers_transaction(
    lend: Callable[[str], AbstractAsyncContextManager[Any]], stocked_dsn: str
) -> None:
    from pgbraid.borrow import async_connection_of

    async def run() -> None:
        async with pgbraid.connect_async(stocked_dsn) as braid, lend(stocked_dsn) as lent:
            mine = braid.using(lent)
            connection = await async_connection_of(lent)
            assert (await mine.ingest("notes", [NEW])).added == 1
            found = await mine.search("sabbaticals granted service", top_k=1, collections="notes")
            assert ids(found) == ["new"] and "new" not in stored(stocked_dsn)
            tenant = await (await connection.execute("SELECT current_setting('pgbraid.tenant', true)")).fetchone()
            assert tenant in [("",), (None,)]
            await lent.rollback()
            assert await mine.document("notes", "new") is None
            with pytest.raises(psycopg.Error):
                await (await async_connection_of(lent)).execute("SELECT 1/0")
            with pytest.raises(StatementFailed, match="roll it back first"):
                await mine.search("leave")
            await lent.rollback()
            await mine.ingest("notes", [NEW])
            await lent.commit()
            await mine.close()
            assert not (await async_connection_of(lent)).closed and "new" in stored(stocked_dsn)

    asyncio.run(run())


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_cancelled_search_leaves_the_callers_transaction_as_it_stood(autocommit: bool, stocked_dsn: str) -> None:
    async def run() -> None:
        async with (
            pgbraid.connect_async(stocked_dsn) as braid,
            await psycopg.AsyncConnection.connect(stocked_dsn, autocommit=autocommit) as connection,
        ):
            mine = braid.using(connection)
            await mine.ingest("notes", [NEW])
            status = connection.info.transaction_status
            with psycopg.connect(stocked_dsn) as other:
                other.execute("LOCK TABLE pgbraid.profile IN ACCESS EXCLUSIVE MODE")
                task = asyncio.create_task(mine.search("leave", collections="notes"))
                await until_async(lambda: waiting(stocked_dsn))
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert connection.info.transaction_status == status
            found = await mine.search("sabbaticals granted service", top_k=1, collections="notes")
            assert ids(found) == ["new"]

    asyncio.run(run())
