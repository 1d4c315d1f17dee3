"""The object that `search --json` prints. Its keys are a promise: new ones may come, none is renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgbraid.cli.output import plain

if TYPE_CHECKING:
    from pgbraid.errors import PgbraidError
    from pgbraid.values import SearchResult


def result_object(result: SearchResult) -> dict[str, Any]:
    """A result as the object that `search --json` prints; scores as they are."""
    found: dict[str, Any] = plain(result)
    trace = result.trace
    found["trace"] = {
        **trace.milliseconds,
        "counts": plain(trace.counts),
        "round_trips": trace.round_trips,
        "notes": list(trace.notes),
    }
    first = ("status", "degraded", "underfilled", "approximate", "decision", "passages", "trace")
    return {key: found[key] for key in first} | found


def failed_object(question: str, error: PgbraidError) -> dict[str, Any]:
    """The same object for a search that failed."""
    return {
        "status": "failed",
        "error": type(error).__name__,
        "message": str(error),
        "degraded": False,
        "underfilled": False,
        "approximate": False,
        "decision": None,
        "passages": [],
        "trace": {"counts": {}},
        "question": question,
    }
