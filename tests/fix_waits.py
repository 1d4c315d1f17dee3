"""Waiting for what another process or thread does, until PostgreSQL itself says that it is so: no guessed pauses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import psycopg

PROBE = "pgbraid tests, asking"
PATIENCE = 60.0  # seconds until a test that hangs fails instead


def blocked(dsn: str) -> list[int]:
    """The processes of backends in this database that wait for a lock."""
    return _processes(dsn, "wait_event_type = 'Lock'")


def busy(dsn: str) -> list[int]:
    """The processes of backends in this database that are in a statement or a transaction."""
    return _processes(dsn, "state <> 'idle'")


def connected(dsn: str) -> list[int]:
    """The processes of all backends in this database but those that ask here."""
    return _processes(dsn, "true")


def terminate(dsn: str, *processes: int) -> None:
    """End backends, and wait until they are gone."""
    with psycopg.connect(dsn, autocommit=True, application_name=PROBE) as connection:
        for process in processes:
            connection.execute("SELECT pg_terminate_backend(%s)", (process,))
    until(lambda: not set(processes) & set(connected(dsn)))


def until(true: Callable[[], object]) -> None:
    """Ask again and again until it is true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


async def until_async(true: Callable[[], object]) -> None:
    """The same, and let the event loop go on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.01)


def _processes(dsn: str, condition: str) -> list[int]:
    with psycopg.connect(dsn, autocommit=True, application_name=PROBE) as connection:
        query = f"""SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND application_name <> '{PROBE}'
            AND backend_type = 'client backend' AND {condition} ORDER BY pid"""
        return [row[0] for row in connection.execute(query.encode()).fetchall()]
