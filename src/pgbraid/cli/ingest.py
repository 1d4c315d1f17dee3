"""`ingest`: files into a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn
from pgbraid.cli.output import console, note, print_json, tame
from pgbraid.errors import IngestError

if TYPE_CHECKING:
    from pgbraid.values import IngestReport

SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "ingest", rich_help_panel="Fill")(ingest)


def ingest(
    collection: CollectionName,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", show_default=False)],
    format: Annotated[
        str | None, typer.Option("--format", help="jsonl, beir, markdown, html or text; else by the file's name.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="For documents that name none.")] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Documents in one transaction.")] = 200,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Load files and folders; what is there already is left alone. The exit code is 8 when a document was rejected."""
    from pgbraid.read import read

    documents = read(paths, format=format)  # before a server is started for a path that is not there
    with opened(dsn) as braid, progress(collection) as told:
        report = braid.ingest(collection, documents, tenant=tenant, batch_size=batch_size, progress=told)
    print_json(report) if as_json else print_report(report)
    if report.rejected:
        raise typer.Exit(IngestError.exit_code)


@contextmanager
def progress(collection: str) -> Iterator[Callable[[IngestReport], None] | None]:
    """What to call after each batch: moves a bar on a terminal, and is None where nobody watches."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(f"{collection}: reading", total=None)

        def told(report: IngestReport) -> None:
            words = f"{collection}: {report.seen:,} documents, {report.chunks_written:,} chunks"
            bar.update(task, description=words)

        yield told


def print_report(report: IngestReport) -> None:
    """What was done, in two lines, and what was not, document by document."""
    out = console()
    out.print(f"{report.collection}: {summary(report)}", soft_wrap=True)
    spent = " · ".join(f"{name} {ms:,.0f} ms" for name, ms in report.milliseconds.items())
    out.print(spent, style="dim", soft_wrap=True)
    for line in report.notes:
        note(line)
    for word, items in (("cleaned", report.cleaned), ("rejected", report.rejected)):
        for item in items[:SHOWN]:
            note(f"{word} {item.external_id}: {item.reason}")
        if len(items) > SHOWN:
            note(f"{word}: {len(items) - SHOWN:,} more (--json lists all)")


def summary(report: IngestReport) -> str:
    """The counts of a report, those that are not 0."""
    counts = {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "cleaned": len(report.cleaned),
        "rejected": len(report.rejected),
    }
    said = ", ".join(f"{number:,} {word}" for word, number in counts.items() if number) or "none"
    chunks = f"{report.chunks_written:,} chunks written, {report.embedded:,} embedded"
    return tame(f"{report.seen:,} documents ({said}); {chunks}")
