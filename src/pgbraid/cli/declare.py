"""`apply`: make the catalogue what a file declares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Dsn
from pgbraid.cli.output import console, plain, print_json, tame

if TYPE_CHECKING:
    from pgbraid.declared import Change, Changes

MARKS = {"create": ("+", "green"), "change": ("~", "yellow"), "drop": ("-", "red")}


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "apply", rich_help_panel="Fill")(apply)


def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Make collections, embedders, profiles and routes what a file declares, and show the difference."""
    from pgbraid.declared import parse

    declared = parse(file)  # before a server is started for a file that is wrong
    with opened(dsn) as braid:
        changes = braid.apply(declared, dry_run=dry_run)
    print_json({**plain(changes), "empty": changes.empty}) if as_json else print_changes(changes)


def print_changes(changes: Changes) -> None:
    """The difference, a line for each thing and each setting that changes."""
    out = console()
    for change in changes.changes:
        if change.action != "keep":
            mark, style = MARKS[change.action]
            out.print(tame(f"{mark} {change.kind} {change.name}"), style=style, soft_wrap=True)
            for line in _settings(change):
                out.print(tame(f"    {line}"), soft_wrap=True)
    kept = sum(change.action == "keep" for change in changes.changes)
    if changes.empty:
        out.print(f"Nothing changes: all {kept} are as declared." if kept else "Nothing is declared.")
    elif changes.dry_run:
        out.print("Nothing was changed: this was a dry run.", style="bold")


def _settings(change: Change) -> list[str]:
    if change.action == "drop":
        return []
    if change.action == "create":
        return [f"{key}: {_shown(new)}" for key, (_, new) in change.detail.items()]
    return [f"{key}: {_shown(old)} → {_shown(new)}" for key, (old, new) in change.detail.items()]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(plain(value), ensure_ascii=False)
