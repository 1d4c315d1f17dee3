"""`ingest`: files into a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn
from pgbraid.cli.output import console, facts, note, print_json, tame
from pgbraid.errors import IngestError, SettingsError

if TYPE_CHECKING:
    from pgbraid.tally import Rehearsal
    from pgbraid.values import IngestReport

SHOWN = 20
Paths = Annotated[list[str] | None, typer.Argument(metavar="PATH…", show_default=False)]
Format = Annotated[
    str | None, typer.Option("--format", help="jsonl, beir, markdown, html, text or parquet; else by the name.")
]
Query = Annotated[str | None, typer.Option("--query", metavar="SQL", help="Load the rows of a query.")]
QueryDsn = Annotated[
    str | None, typer.Option("--query-dsn", metavar="DSN", help="Where the query runs; else the same database.")
]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", min=1, help="Documents in one transaction; else as many as 2 s take.")
]
RejectedFile = Annotated[
    Path | None, typer.Option("--rejected", metavar="FILE", help="Add what is rejected here, to be fed again.")
]
Price = Annotated[float | None, typer.Option("--price", min=0, help="Of a million tokens, for the dry run's cost.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "ingest", rich_help_panel="Fill")(ingest)


def ingest(
    collection: CollectionName,
    paths: Paths = None,
    format: Format = None,
    query: Query = None,
    query_dsn: QueryDsn = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="For documents that name none.")] = None,
    batch_size: BatchSize = None,
    rejected: RejectedFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count, and estimate the time.")] = False,
    price: Price = None,
    restart: Annotated[bool, typer.Option("--restart", help="Begin anew where a load was interrupted.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Load files, folders, patterns, standard input (-) or a query; what is there already is left alone.

    A load of files that was interrupted goes on where it stopped. The exit code is 8 when a document was rejected.
    """
    from pgbraid.cli.sources import progress, rejections, sources

    _check(dry_run, price, query_dsn if query is None else None, [rejected, batch_size, restart or None])
    source = sources(paths or [], format, query)  # before a server is started for a path that is not there
    with opened(dsn) as braid:
        documents = source.documents(query_dsn or braid.settings.dsn or "")
        if dry_run:
            return print_rehearsal(braid.rehearse(collection, documents, tenant=tenant), price, as_json)
        with progress(collection, source) as told, rejections(rejected) as on_rejected:
            report = braid.ingest(
                collection,
                documents,
                tenant=tenant,
                batch_size=batch_size,
                progress=told,
                on_rejected=on_rejected,
                checkpoint=None if restart else source.checkpoint(tenant),
            )
    print_json(report) if as_json else print_report(report)
    if report.rejected:
        raise typer.Exit(IngestError.exit_code)


def _check(dry_run: bool, price: float | None, astray_dsn: str | None, for_loads: list[object]) -> None:
    """Refuse options that would mean nothing."""
    if price is not None and not dry_run:
        raise SettingsError("--price is for --dry-run: a load itself has no cost that pgbraid knows.")
    if dry_run and any(option is not None for option in for_loads):
        raise SettingsError("--rejected, --batch-size and --restart are for a load; --dry-run writes nothing.")
    if astray_dsn:
        raise SettingsError("--query-dsn says where --query runs, and there is none.")


def print_rehearsal(found: Rehearsal, price: float | None, as_json: bool) -> None:
    """What a load would do."""
    from dataclasses import asdict

    told = {**asdict(found), "vector_bytes": found.vector_bytes}
    if price is not None:
        told["cost"] = round(found.tokens / 1e6 * price, 4)
    print_json(told) if as_json else facts(told)


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
    if report.resumed:
        counts = {"passed over, written by the interrupted load": report.resumed, **counts}
    said = ", ".join(f"{number:,} {word}" for word, number in counts.items() if number) or "none"
    chunks = f"{report.chunks_written:,} chunks written, {report.embedded:,} embedded"
    return tame(f"{report.seen:,} documents ({said}); {chunks}")
