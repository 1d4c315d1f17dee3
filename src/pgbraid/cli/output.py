"""How commands speak: JSON or tables on standard output, notes and errors on standard error."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


WIDE = 200


def console(stderr: bool = False, wide: bool = False) -> Console:
    """A console that shows text as it is: no markup or emoji is read into a document. Colours only on a terminal.

    Where nobody watches there is no width: `wide` then leaves long values whole.
    """
    from rich.console import Console

    shown = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if wide and not shown.is_terminal and "COLUMNS" not in os.environ:
        shown.width = WIDE
    return shown


def tame(text: str) -> str:
    """Text of a document, fit for a terminal: control characters, which could command it, become spaces."""
    return _CONTROL.sub(" ", text)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: dataclasses become objects with their fields' names."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


def print_json(value: Any) -> None:
    """One JSON value on standard output; characters that it cannot show are written as \\u escapes."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=not utf8, indent=2) + "\n")


def note(message: str) -> None:
    """One line for the person, on standard error."""
    sys.stderr.write(tame(message) + "\n")


def fail(error: Exception, as_json: bool) -> None:
    """Say what went wrong: a line for each problem on standard error, or an object on standard output."""
    if as_json:
        print_json({"error": type(error).__name__, "message": str(error)})
        return
    for line in str(error).replace("\n\t", " ").splitlines() or [type(error).__name__]:
        note(f"pgbraid: {line}")


def cell(value: object) -> str:
    """A value in a table."""
    if isinstance(value, (dict, list)):
        return tame(json.dumps(plain(value), ensure_ascii=False))
    return "" if value is None else tame(str(value))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()) -> None:
    """Rows under headings; the columns in `numbers` are set to the right."""
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        shown.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        shown.add_row(*map(cell, row))
    console(wide=True).print(shown)


def facts(pairs: Mapping[str, object]) -> None:
    """Names and values, one pair a line."""
    from rich.text import Text

    out = console()
    width = max(map(len, pairs), default=0)
    for key, value in pairs.items():
        out.print(Text.assemble((f"{key.replace('_', ' '):<{width}}", "dim"), "  ", cell(value)), soft_wrap=True)
