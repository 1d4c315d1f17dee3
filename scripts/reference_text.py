"""Pieces of Markdown for the pages of the reference."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, or nothing when it has no rows."""
    lines = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *lines]) + "\n\n"


def cell(value: object) -> str:
    """A value on one line, as it may stand in a table."""
    return re.sub(r"\s+", " ", str(value)).strip().replace("|", "\\|")


def code(text: object) -> str:
    """Inline code; an empty text stays empty."""
    return f"`{text}`" if str(text) else ""


def prose(docstring: str | None) -> str:
    """A docstring as paragraphs."""
    return inspect.cleandoc(docstring or "") + "\n\n"


def between(low: object, high: object) -> str:
    """Bounds in words."""
    return f"from {low}" if high is None else f"{low} to {high}"
