"""Ask the right knowledge bases in the PostgreSQL you already run.

    braid = pgbraid.connect("postgresql://…")       # or pgbraid.embedded("./.pgbraid")
    result = braid.search("How long may I carry over vacation days?")

`AsyncBraid` is the same with await. Nothing heavy is loaded before it is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgbraid._async.braid import AsyncBraid
    from pgbraid._sync.braid import Braid
    from pgbraid.settings import Settings
    from pgbraid.values import (
        BranchScore,
        Candidate,
        Chunk,
        Chunking,
        Collection,
        CollectionSpec,
        Decision,
        Document,
        EmbedderRecord,
        Failure,
        Heading,
        IngestReport,
        MatchedChunk,
        Passage,
        Profile,
        Rejected,
        SearchResult,
        Trace,
        VectorIndex,
    )

__version__ = "0.1.0"

__all__ = [
    "AsyncBraid",
    "Braid",
    "BranchScore",
    "Candidate",
    "Chunk",
    "Chunking",
    "Collection",
    "CollectionSpec",
    "Decision",
    "Document",
    "EmbedderRecord",
    "Failure",
    "Heading",
    "IngestReport",
    "MatchedChunk",
    "Passage",
    "Profile",
    "Rejected",
    "SearchResult",
    "Settings",
    "Trace",
    "VectorIndex",
    "connect",
    "connect_async",
    "embedded",
    "embedded_async",
]

_HOMES = {
    "AsyncBraid": "pgbraid._async.braid",
    "Braid": "pgbraid._sync.braid",
    "Settings": "pgbraid.settings",
}


def connect(dsn: str | None = None, **settings: Any) -> Braid:
    """A braid on a database: the one given, else PGBRAID_DSN or DATABASE_URL. Connects when first used."""
    from pgbraid._sync.braid import Braid
    from pgbraid.settings import Settings

    return Braid(Settings.load(dsn=dsn, **settings))


def connect_async(dsn: str | None = None, **settings: Any) -> AsyncBraid:
    """The same for callers with an event loop."""
    from pgbraid._async.braid import AsyncBraid
    from pgbraid.settings import Settings

    return AsyncBraid(Settings.load(dsn=dsn, **settings))


def embedded(directory: str | Path = ".pgbraid", **settings: Any) -> Braid:
    """A braid on an embedded PostgreSQL in this directory:

    made and started when it is not, its schema brought up to date.
    """
    from pgbraid import schema, server

    dsn = server.up(Path(directory)).dsn
    schema.upgrade(dsn)
    return connect(dsn, **settings)


async def embedded_async(directory: str | Path = ".pgbraid", **settings: Any) -> AsyncBraid:
    """The same for callers with an event loop, which goes on while the server starts."""
    from pgbraid.compute import in_executor

    return connect_async((await in_executor(embedded, directory)).settings.dsn, **settings)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pgbraid' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "pgbraid.values")), name)


def __dir__() -> list[str]:
    return __all__
