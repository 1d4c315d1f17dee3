"""The revisions of the schema, and the script of the way from one to another.

The SQL is in `migrations/`; Alembic puts it together and adds its bookkeeping. Nothing is run here.
"""

from __future__ import annotations

import io
import threading
from functools import cache
from importlib.resources import files

BASE = "base"
_writing = threading.Lock()  # Alembic keeps the script it is writing in a module, one for the whole process


def part(name: str) -> str:
    """A SQL file of `migrations/` that is not a revision."""
    return files("pgbraid.migrations").joinpath(name).read_text(encoding="utf-8")


@cache
def revisions() -> tuple[str, ...]:
    """Every revision, oldest first, by the names of the files; Alembic, which is slow to import, is not asked."""
    names = (path.name for path in files("pgbraid.migrations").joinpath("versions").iterdir())
    return tuple(sorted(name.partition("_")[0] for name in names if name.endswith(".up.sql")))


def head() -> str:
    """The newest revision."""
    return revisions()[-1]


def write(start: str, end: str, vector_schema: str) -> str:
    """The SQL from one revision to another, upwards or downwards, with the bookkeeping; without a transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config(output_buffer=io.StringIO())
    config.set_main_option("script_location", str(files("pgbraid.migrations")).replace("%", "%%"))
    config.attributes["vector_schema"] = vector_schema
    order = [BASE, *revisions()]
    go = command.upgrade if order.index(start) <= order.index(end) else command.downgrade
    with _writing:
        go(config, f"{start}:{end}", sql=True)
    text: str = config.output_buffer.getvalue()  # type: ignore[union-attr]
    return text


def steps(at: str, goal: str, vector_schema: str = "public") -> str:
    """The script from one revision to another, upwards or downwards, without a transaction around it."""
    opening = ["lock.sql", "extension.sql", "begin.sql"] if at == BASE else ["lock.sql"]
    closing = ["end.sql"] if goal == BASE != at else []
    body = write(at, goal, vector_schema) if at != goal else ""
    return "\n".join([*map(part, opening), body, *map(part, closing)])
