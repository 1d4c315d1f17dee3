"""Whether a connection that lay idle still has its server, found out without asking the server anything."""

from __future__ import annotations

import selectors
from typing import Any

import psycopg

READS = 3  # a few notices may wait on a live connection; one that is closed can be read without end


def lost(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether the server has closed this idle connection: then its socket can be read, and ends."""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            for _ in range(READS):
                if not selector.select(timeout=0):
                    return False
                connection.pgconn.consume_input()
    except psycopg.OperationalError:
        pass
    return True
