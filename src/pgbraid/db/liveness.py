"""Whether a connection that lay idle still has its server, found out without asking the server anything."""

from __future__ import annotations

import selectors
from typing import Any

import psycopg

READS = 3  # a few notices may wait on a live connection; one that is closed can be read without end
FATAL = ("FATAL", "PANIC")


def lost(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether the server has ended this idle connection: its socket can be read, and ends or holds the last words.

    A backend that is terminated says so first and closes the socket a moment later.
    """
    last_words: list[psycopg.errors.Diagnostic] = []

    def listen(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized in FATAL:
            last_words.append(notice)

    connection.add_notice_handler(listen)
    try:
        return _ends(connection) or bool(last_words)
    finally:
        connection.remove_notice_handler(listen)


def _ends(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Read what has come, which makes notices of it, and tell whether it can be read without end."""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            for _ in range(READS):
                if not selector.select(timeout=0):
                    return False
                connection.pgconn.consume_input()
                connection.pgconn.is_busy()  # it is what parses the input
    except psycopg.OperationalError:
        pass
    return True
