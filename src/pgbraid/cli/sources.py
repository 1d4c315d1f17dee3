"""What `ingest` reads, how far it has come, and the file that rejected documents go to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pgbraid.cli.output import console, plain
from pgbraid.errors import SettingsError

if TYPE_CHECKING:
    from pgbraid.read import Reading
    from pgbraid.values import Document, IngestReport, Rejected

Progress = Callable[["IngestReport"], None]
OnRejected = Callable[["Rejected", "Document | None"], None]


class Source:
    """Files, or a query."""

    def __init__(self, reading: Reading | None, query: str | None) -> None:
        self._reading, self._query = reading, query

    def documents(self, dsn: str) -> Iterator[Document | Rejected]:
        """The documents; `dsn` is where a query runs."""
        if self._reading is not None:
            return iter(self._reading)
        from pgbraid.db.rows import query_documents

        return query_documents(dsn, self._query or "")

    def checkpoint(self, tenant: str | None) -> str | None:
        """A name for this load: the same while the files are. None where nothing tells that they are the same."""
        identity = self._reading.identity if self._reading is not None else None
        if identity is None:
            return None
        return hashlib.sha256(f"{identity}\0{tenant}".encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def done(self) -> float:
        """Bytes that were read."""
        return self._reading.done if self._reading is not None else 0.0

    @property
    def total(self) -> int | None:
        """Bytes there are to read, where that is known."""
        return self._reading.total if self._reading is not None else None


def sources(paths: Sequence[str], format: str | None, query: str | None) -> Source:
    """What is to be read. Raises SettingsError for nothing, for both, and for what `read` refuses."""
    from pgbraid.read import read

    if query is not None and (paths or format):
        raise SettingsError("Give paths or --query, not both; a format is only for paths.")
    if query is not None:
        return Source(None, query)
    if not paths:
        raise SettingsError("Nothing to load: give a file, a folder, a pattern, - for standard input, or --query.")
    return Source(read([Path(path) for path in paths], format=format), None)


@contextmanager
def progress(collection: str, source: Source) -> Iterator[Progress | None]:
    """What to call after each batch: moves a bar on a terminal, and is None where nobody watches."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    words = TextColumn("{task.description}", markup=False)
    columns = (
        SpinnerColumn(),
        words,
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=err, transient=True, speed_estimate_period=600) as bar:
        task = bar.add_task(f"{collection}: reading", total=source.total)

        def told(report: IngestReport) -> None:
            rate = report.seen / max(report.milliseconds["total"] / 1000, 1e-9)
            counts = f"{report.seen:,} documents, {report.chunks_written:,} chunks, {rate:,.0f} documents/s"
            bar.update(task, description=f"{collection}: {counts}", completed=source.done)

        yield told


@contextmanager
def rejections(path: Path | None) -> Iterator[OnRejected | None]:
    """What to call with a rejected document: adds it, with the reason, as a JSON line that can be loaded again."""
    if path is None:
        yield None
        return
    with path.open("a", encoding="utf-8", buffering=1) as file:

        def write(one: Rejected, document: Document | None) -> None:
            row: dict[str, object] = {"external_id": one.external_id}
            if document is not None:
                fields = ("text", "title", "tenant", "metadata")
                row |= {name: value for name in fields if (value := plain(getattr(document, name)))}
            file.write(json.dumps({**row, "pgbraid_rejected": one.reason}, default=str) + "\n")

        yield write
