# Generated from src/pgbraid/_async/link.py by scripts/async_to_sync.py. Change that file, not this one.

"""A connection for the length of one act, and the few ways to run a statement on it.

Our own connections come from a pool that opens when first needed, one a process and event loop. A borrowed one keeps
its transaction: reads leave nothing in it, writes join it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection, Cursor, Pipeline
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import JsonbLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from pgbraid.compute import Place, is_left, this_process
from pgbraid.db.failures import translate, translated
from pgbraid.db.liveness import lost
from pgbraid.db.statements import Statement, statement
from pgbraid.db.vectors import vector_dumper
from pgbraid.errors import ConnectionLost, ExtensionUnavailable, SettingsError, StatementFailed
from pgbraid.settings import Settings

Row = dict[str, Any]
Call = tuple[Statement, Mapping[str, Any]]
Pool = ConnectionPool[Connection[Any]]

FACTS = statement("catalog/facts")
BEGIN_READ = statement("session/begin_read")
COMMIT = statement("session/commit")
SAVEPOINT = statement("session/savepoint")
ROLLBACK_TO_SAVEPOINT = statement("session/rollback_to_savepoint")
RELEASE_SAVEPOINT = statement("session/release_savepoint")
SET_TENANT = statement("session/set_tenant")
SET_UPKEEP = statement("session/set_upkeep")
CURRENT_TENANT = statement("session/current_tenant")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server is, asked once."""

    server_version: int
    encoding: str
    vector_schema: str
    vector_version: str
    citus: bool


NOTHING_KNOWN = Facts(0, "", "", "", False)


class Link:
    """A connection, whose it is, and how many round trips went over it."""

    def __init__(self, connection: Connection[Any], facts: Facts, borrowed: bool) -> None:
        self.connection = connection
        self.facts = facts
        self.borrowed = borrowed
        self.trips = 0

    @property
    def joins(self) -> bool:
        """Whether work here joins a transaction: an open one, or one that the caller's connection opens by itself."""
        opened = self.connection.info.transaction_status != TransactionStatus.IDLE
        return opened or (self.borrowed and not self.connection.autocommit)

    def read(self, calls: Sequence[Call], tenant: str = "", knobs: Sequence[Statement] = ()) -> list[list[Row]]:
        """The rows of each call, all in one transaction and one round trip; nothing set here outlives it."""
        joined = self.joins
        first, last = ([SAVEPOINT], [ROLLBACK_TO_SAVEPOINT, RELEASE_SAVEPOINT]) if joined else ([BEGIN_READ], [COMMIT])
        every: list[Call] = [(s, {}) for s in first] + [(SET_TENANT, {"tenant": tenant})]
        every += [(s, {}) for s in knobs]
        skipped = len(every)
        every += [*calls, *((s, {}) for s in last)]
        results = self._pipelined(every, joined)
        return results[skipped : skipped + len(calls)]

    def check_transaction(self) -> None:
        """Raise StatementFailed when the caller's transaction has failed already: nothing can be asked in it."""
        if self.connection.info.transaction_status == TransactionStatus.INERROR:
            raise StatementFailed(
                "The transaction of this connection has failed before: roll it back first. [25P02]", "25P02"
            )

    def _cursor(self) -> Cursor[Row]:
        """A plain cursor, whatever cursors and JSON loaders the caller's connection makes (Django's gives text)."""
        cursor = Cursor(self.connection, row_factory=dict_row)
        cursor.adapters.register_loader("jsonb", JsonbLoader)
        return cursor

    def _pipelined(self, calls: Sequence[Call], joined: bool) -> list[list[Row]]:
        cursors = [self._cursor() for _ in calls]
        self.trips += 1
        try:
            with self.connection.pipeline() if Pipeline.is_supported() else nullcontext():
                for cursor, (asked, params) in zip(cursors, calls, strict=True):
                    cursor.execute(asked.text.encode(), params, prepare=False)
            return [cursor.fetchall() if cursor.description else [] for cursor in cursors]
        except psycopg.Error as error:
            failed = next(
                (asked for cursor, (asked, _) in zip(cursors, calls, strict=True) if cursor.pgresult is None), None
            )
            self._recover(joined)
            raise translate(error, failed) from error
        except BaseException:  # a value that cannot be sent, or the caller does not wait any longer
            self._recover(joined)
            raise

    def _recover(self, joined: bool) -> None:
        """Leave the connection usable: the caller's transaction as it stood, or none of our own.

        A connection that is past that is left as it is: what is raised already says why.
        """
        if self.connection.closed or self.connection.info.transaction_status == TransactionStatus.IDLE:
            return
        with suppress(psycopg.Error):
            if not joined:
                self.connection.rollback()
                return
            self.connection.execute(ROLLBACK_TO_SAVEPOINT.text.encode())
            self.connection.execute(RELEASE_SAVEPOINT.text.encode())

    @contextmanager
    def writing(self, tenant: str = "", upkeep: bool = False) -> Iterator[None]:
        """A transaction for writing as a tenant;

        joins the caller's when there is one, and leaves its settings as they were.
        """
        joined = self.joins
        with translated():
            previous = (self.rows(CURRENT_TENANT))[0]["tenant"]
            with self.connection.transaction():
                self.rows(SET_TENANT, tenant=tenant)
                if upkeep:
                    self.rows(SET_UPKEEP, upkeep="on")
                yield
                if joined:
                    self.rows(SET_TENANT, tenant=previous)
                    if upkeep:
                        self.rows(SET_UPKEEP, upkeep="")

    def rows(self, asked: Statement, **params: Any) -> list[Row]:
        """The rows of one statement."""
        self.trips += 1
        with translated(asked):
            with self._cursor() as cursor:
                cursor.execute(asked.text.encode(), params or None)
                return cursor.fetchall() if cursor.description else []

    def copy(self, asked: Statement, types: Sequence[str | int], rows: Iterable[Sequence[Any]]) -> None:
        """Send rows by binary COPY. A type that is a number is the oid of pgvector's vector."""
        self.trips += 1
        with translated(asked):
            with self._cursor() as cursor:
                for oid in types:
                    if isinstance(oid, int):
                        from numpy import ndarray

                        cursor.adapters.register_dumper(ndarray, vector_dumper(oid))
                with cursor.copy(asked.text.encode()) as copy:
                    copy.set_types(types)
                    for row in rows:
                        copy.write_row(row)


class Database:
    """Where links come from: a pool of our own, or a connection that the application lent."""

    def __init__(self, settings: Settings, lent: Any = None, unwrap: Callable[[Any], Any] | None = None) -> None:
        self.settings = settings
        self._lent = lent
        self._unwrap = unwrap
        self._pools: dict[Place, Pool] = {}
        self._opening: dict[Place, threading.Lock] = {}
        self._facts: dict[str, Facts] = {}

    def lend(self, connection: Any, unwrap: Callable[[Any], Any]) -> Database:
        """The same database over a connection of the application's."""
        other = Database(self.settings, connection, unwrap)
        other._facts = self._facts
        return other

    @contextmanager
    def link(self) -> Iterator[Link]:
        """A connection for one act. Raises ConnectionLost, and StatementFailed in a transaction that has failed."""
        if self._unwrap is not None:
            yield self._linked(self._unwrap(self._lent), borrowed=True)
            return
        with translated():
            pool = self._opened()
            connection = self._taken(pool)
        try:
            yield self._linked(connection, borrowed=False)
        finally:
            pool.putconn(connection)

    def _linked(self, connection: Connection[Any], borrowed: bool) -> Link:
        with translated():
            if connection.closed:
                raise ConnectionLost("The connection that was handed over is closed. Hand over an open one.")
            Link(connection, NOTHING_KNOWN, borrowed).check_transaction()
            return Link(connection, self._known(connection, borrowed), borrowed)

    def _taken(self, pool: Pool) -> Connection[Any]:
        """A connection of the pool, and none that its server has closed meanwhile."""
        try:
            connection = pool.getconn()
            if lost(connection):
                connection.close()
                pool.putconn(connection)
                self.refresh()
                connection = pool.getconn()
            return connection
        except PoolTimeout as error:
            raise ConnectionLost(
                f"No connection was to be had within {self.settings.connect_timeout} s: the {self.settings.pool_max} "
                "of this process are all in use (raise pool_max), or the server takes no more."
            ) from error

    def _opened(self) -> Pool:
        """The pool of this place. One made before a fork belongs to the parent: it is forgotten, never closed here."""
        here = this_process()
        with self._opening.setdefault(here, threading.Lock()):  # a fork may copy a lock that is held
            if here not in self._pools:
                self._greet()
                for left in [place for place in (*self._pools, *self._opening) if is_left(place)]:
                    self._pools.pop(left, None)
                    self._opening.pop(left, None)
                self._pools[here] = self._new_pool()
            return self._pools[here]

    def _new_pool(self) -> Pool:
        pool: Pool = ConnectionPool(
            self._dsn,
            kwargs={"autocommit": True, "prepare_threshold": self.settings.prepare_threshold},
            min_size=self.settings.pool_min,
            max_size=self.settings.pool_max,
            timeout=self.settings.connect_timeout,
            open=False,
        )
        pool.open()
        return pool

    def _greet(self) -> None:
        """Connect once without the pool:

        a wrong address fails at once and says why, and the server tells what it is.
        """
        with Connection.connect(
            self._dsn, autocommit=True, connect_timeout=self.settings.connect_timeout
        ) as connection:
            self._known(connection, lent=False)

    @property
    def _dsn(self) -> str:
        if self.settings.dsn is None:
            raise SettingsError("No database was named. Give a dsn, or use pgbraid.embedded(directory).")
        return self.settings.dsn

    def refresh(self) -> None:
        """Replace the pool's connections that a server or a network dropped.

        Raises ConnectionLost at once when the server is gone.
        """
        with translated():
            if pool := self._pools.get(this_process()):
                self._greet()
                pool.check()

    def _known(self, connection: Connection[Any], lent: bool) -> Facts:
        place = f"{connection.info.host} {connection.info.port} {connection.info.dbname}"
        if place not in self._facts:
            link = Link(connection, NOTHING_KNOWN, borrowed=lent)
            row = (link.rows(FACTS))[0]
            if row["vector_schema"] is None:
                raise ExtensionUnavailable("The extension vector is not in this database. Run: pgbraid schema upgrade")
            self._facts[place] = Facts(**row)
        return self._facts[place]

    def close(self) -> None:
        """Close the pool of this place. A lent connection stays open: it is the application's."""
        if pool := self._pools.pop(this_process(), None):
            pool.close()
