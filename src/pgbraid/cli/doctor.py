"""`doctor`: what is not as it should be, with the SQL that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Dsn
from pgbraid.cli.output import console, note, print_json, tame
from pgbraid.errors import SettingsError

if TYPE_CHECKING:
    from pgbraid.findings import Finding

STYLES = {"error": "bold red", "warning": "yellow", "advice": "cyan"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "doctor", rich_help_panel="Look after")(doctor)


def doctor(
    collection: Annotated[str | None, typer.Argument(metavar="COLLECTION", show_default=False)] = None,
    models: Annotated[
        bool, typer.Option("--models", help="Load each embedder and compare it with the catalogue.")
    ] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print only the SQL that mends, for psql.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Find what is not as it should be: indexes, statistics, row security, leftovers, orphans, settings.

    Each finding says what to do. Nothing is changed. The exit code is 1 when there is an error among them.
    """
    if sql and as_json:
        raise SettingsError("--sql and --json exclude each other.")
    with opened(dsn) as braid:
        found = braid.doctor(collection, load_models=models)
    if as_json:
        print_json(found)
    elif sql:
        _script(found)
    else:
        _tell(found)
    if any(finding.severity == "error" for finding in found):
        raise typer.Exit(1)


def _script(found: tuple[Finding, ...]) -> None:
    for finding in found:
        typer.echo(f"-- {finding.severity}: {_line(finding)}")
        for statement in finding.sql:
            typer.echo(f"{statement};")
        if not finding.sql:
            typer.echo(f"-- {finding.do}")


def _tell(found: tuple[Finding, ...]) -> None:
    from rich.text import Text

    out = console()
    for finding in found:
        out.print(Text.assemble((finding.severity, STYLES[finding.severity]), "  ", _line(finding)), soft_wrap=True)
        out.print(Text(f"  {finding.do}"), soft_wrap=True)
        for statement in finding.sql:
            out.print(Text(f"    {tame(statement)};", style="dim"), soft_wrap=True)
    note(f"{len(found)} findings" if found else "nothing to mend")


def _line(finding: Finding) -> str:
    """One line, whatever a name holds."""
    return " ".join(tame(f"{finding.object} {finding.detail}").split())
