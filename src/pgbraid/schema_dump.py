"""The schema as PostgreSQL sees it: what pg_dump says, without comments, settings and what changes from run to run.

It is for reading (`migrations/schema.sql`) and for comparing; nothing is ever restored from it.
"""

from __future__ import annotations

import re

NOISE = re.compile(r"^(?:--.*|SET .*|SELECT pg_catalog\.set_config\(.*|\\(?:un)?restrict .*)\n", re.MULTILINE)
HEADING = "-- What the migrations make, dumped by: make schema-dump. Not run by anything; a test keeps it true.\n"


def dump(dsn: str) -> str:
    """The definition of the schema `pgbraid` in a database, always the same text for the same schema.

    Meant for a database without collections, whose partitions would be in it. Raises ServerError when pg_dump fails,
    MissingExtra when it is not installed.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    from pgbraid.server import binary
    from pgbraid.server.binaries import run

    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    options = ["--schema-only", "--no-owner", "--schema=pgbraid", f"--dbname={make_conninfo('', **parts)}"]
    text = run([binary("pg_dump"), *options], secrets={} if password is None else {"PGPASSWORD": str(password)})
    return HEADING + "\n" + normal(text)


def normal(text: str) -> str:
    """A dump without noise. A comment inside a function begins in a column of its own and stays."""
    return re.sub(r"\n{3,}", "\n\n", NOISE.sub("", text)).strip() + "\n"
