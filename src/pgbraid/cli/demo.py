"""`demo`: see it work, on three small knowledge bases that come with the repository."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Dsn
from pgbraid.cli.output import console, note, plain, print_json

if TYPE_CHECKING:
    from pgbraid._sync.braid import Braid
    from pgbraid.declared import Changes
    from pgbraid.demo import Files
    from pgbraid.values import IngestReport, SearchResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "demo", rich_help_panel="Ask")(demo)


def demo(
    folder: Annotated[Path, typer.Option("--dir", metavar="FOLDER", help="The demonstration's files.")] = Path(
        "examples/demo"
    ),
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Start a server, load three small knowledge bases, ask six questions."""
    from pgbraid.demo import files

    start = time.perf_counter()
    given = files(folder)
    with opened(dsn) as braid:
        changes, reports = _fill(braid, given)
        results = _ask(braid, given, as_json)
    seconds = time.perf_counter() - start
    if as_json:
        print_json(_object(changes, reports, results, seconds))
    else:
        console().print(f"\n{len(results)} questions, {seconds:.1f} s in all.", style="bold")


def _fill(braid: Braid, given: Files) -> tuple[Changes, list[IngestReport]]:
    from pgbraid import demo as work
    from pgbraid.cli.ingest import summary

    changes = work.declare(braid, given)
    made = sum(change.action != "keep" for change in changes.changes)
    note(f"{given.declared}: {f'{made} things declared' if made else 'nothing changes'}")
    reports = []
    for report in work.load(braid, given):
        note(f"{report.collection}: {summary(report)}, {report.milliseconds['total']:,.0f} ms")
        reports.append(report)
    if not any(report.added or report.changed for report in reports):
        note("everything was loaded before: nothing was embedded or written")
    return changes, reports


def _ask(braid: Braid, given: Files, quiet: bool) -> list[SearchResult]:
    from pgbraid import demo as work
    from pgbraid.cli.show import print_result

    results = []
    for result in work.ask(braid, given):
        results.append(result)
        if not quiet:
            out = console()
            out.print()
            out.rule(style="dim")
            print_result(result)
    return results


def _object(
    changes: Changes, reports: list[IngestReport], results: list[SearchResult], seconds: float
) -> dict[str, Any]:
    from pgbraid.cli.objects import result_object

    return {
        "changes": plain(changes),
        "ingested": plain(reports),
        "results": [result_object(result) for result in results],
        "seconds": seconds,
    }
