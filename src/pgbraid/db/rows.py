"""Documents that are the rows of a query, in this database or another one, a few thousand at a time."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg.rows import dict_row

from pgbraid.db.failures import translated
from pgbraid.read.lines import row_document
from pgbraid.settings import libpq_dsn
from pgbraid.values import Document, Rejected

ROWS = 2000


def query_documents(dsn: str, query: str) -> Iterator[Document | Rejected]:
    """The rows of a query that the operator wrote, as documents; columns are understood like keys of JSON lines.

    It runs in a read-only transaction of its own connection, through a cursor on the server, so that the result may
    be larger than memory. Raises what `failures` makes of PostgreSQL's errors.
    """
    with translated(), psycopg.connect(libpq_dsn(dsn)) as connection:
        connection.read_only = True
        with connection.cursor("pgbraid_rows", row_factory=dict_row) as cursor:
            cursor.itersize = ROWS
            cursor.execute(query.encode())
            for number, row in enumerate(cursor, 1):
                identity = next((k for k in ("external_id", "id", "_id") if row.get(k) is not None), None)
                if identity and not isinstance(row[identity], int | str):
                    row[identity] = str(row[identity])  # a uuid, mostly
                yield row_document(row, f"row {number} of the query")
