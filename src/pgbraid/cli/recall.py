"""`recall`: what a vector index finds of the exact answers, at what speed, and the setting that is enough."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn, Tenant
from pgbraid.cli.output import note, plain, print_json, table
from pgbraid.errors import SettingsError

if TYPE_CHECKING:
    from pgbraid.measure.recall import Line, Point, Recalled

COLUMNS = ("filter", "passing", "ef_search", "recall", "of first 10", "least", "p50 ms", "p95 ms")
Filters = Annotated[
    list[str] | None, typer.Option("--filter", metavar="JSON", help="Also under this one; again for more.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "recall", rich_help_panel="Measure")(recall)


def recall(
    collection: CollectionName,
    wanted: Annotated[float, typer.Option("--wanted", metavar="SHARE", min=0.01, max=1, help="Recall wanted.")] = 0.99,
    sample: Annotated[int, typer.Option("--sample", metavar="N", min=1, help="Vectors that are asked.")] = 100,
    candidates: Annotated[
        int, typer.Option("--candidates", metavar="N", min=1, max=10_000, help="Nearest chunks asked for.")
    ] = 100,
    breadth: Annotated[
        list[int] | None, typer.Option("--ef-search", metavar="N", help="Measure this one; again for more.")
    ] = None,
    filter: Filters = None,
    tenant: Tenant = "",
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .svg or .html.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Set the collection's ef_search to what is enough.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Measure the vector index against exact answers, and find the smallest ef_search that is enough."""
    from pgbraid.filters import compile_filter
    from pgbraid.measure.recall import BREADTHS, Sweep

    if plot and plot.suffix not in (".svg", ".html"):
        raise SettingsError(f"--plot {plot}: a drawing is an .svg or an .html file")
    filters = {"": None, **{one: compile_filter(one) for one in filter or ()}}
    sweep = Sweep(sample, candidates, tuple(breadth or BREADTHS), filters, tenant)
    with opened(dsn) as braid:
        measured = braid.recall(collection, sweep)
        enough = _enough(measured, wanted)
        if write and enough is not None:
            braid.alter_collection(collection, ef_search=enough)
    if plot:
        _draw(plot, measured, wanted)
    if as_json:
        print_json({**plain(measured), "wanted": wanted, "enough": enough, "written": write and enough is not None})
    else:
        _tell(measured, wanted, enough, write)
    if write and enough is None:
        raise SettingsError(
            f"No measured ef_search finds {wanted:.1%}: nothing was written. Raise index.m, or want less"
        )


def _enough(measured: Recalled, wanted: float) -> int | None:
    """The smallest breadth that is enough under every filter."""
    reached = [line.smallest(wanted) for line in measured.lines]
    known = [point.ef_search for point in reached if point is not None]
    return max(known) if len(known) == len(reached) else None


def _rows(line: Line) -> list[tuple[object, ...]]:
    exact = (line.filter, f"{line.share:.1%}", "exact", "1.0000", "1.0000", "1.0000", f"{line.exact_ms:.2f}", "")
    return [exact, *map(_row, line.points)]


def _row(point: Point) -> tuple[object, ...]:
    shares = (point.recall, point.recall_of_first, point.least)
    spent = (point.median_ms, point.p95_ms)
    return ("", "", point.ef_search, *(f"{v:.4f}" for v in shares), *(f"{v:.2f}" for v in spent))


def _tell(measured: Recalled, wanted: float, enough: int | None, write: bool) -> None:
    table(COLUMNS, [row for line in measured.lines for row in _rows(line)], numbers=COLUMNS[1:])
    name = measured.collection
    if enough is not None:
        done = f"set from {measured.ef_search}" if write else f"it is {measured.ef_search} now, --write sets it"
        note(f"ef_search {enough} finds {wanted:.1%} of the nearest {measured.candidates} ({done})")
    elif not write:
        note(f"no measured ef_search finds {wanted:.1%} of the nearest {measured.candidates}")
    if not measured.used:
        note(f"searches compare all {measured.chunks} chunks of {name}: its index is not used yet (exact_below)")
    else:
        note(f"a search looks at twice its candidates at least: with {measured.candidates}, {2 * measured.candidates}")


def _draw(path: Path, measured: Recalled, wanted: float) -> None:
    from pgbraid.cli.chart import chart
    from pgbraid.cli.sheet import figure, grid, page, paragraph
    from pgbraid.cli.sheet import write as write_file

    lines = {one.filter or "no filter": [(p.median_ms, 100 * p.recall) for p in one.points] for one in measured.lines}
    lowest = min(up for points in lines.values() for _, up in points)
    title = f"{measured.collection}: recall of the vector index"
    drawn = chart(lines, title, "milliseconds of a round trip, median", "recall, %", floor=float(int(lowest / 10) * 10))
    if path.suffix == ".html":
        told = (
            f"{measured.sample} vectors of {measured.chunks} chunks, each asked for its {measured.candidates} nearest, "
            f"beside exact answers. Wanted: {wanted:.1%}; enough: ef_search {_enough(measured, wanted) or 'none'}."
        )
        rows = [row for line in measured.lines for row in _rows(line)]
        drawn = page(title, [paragraph(told), figure(drawn), grid(COLUMNS, rows, COLUMNS[1:])])
    write_file(path, drawn, "--plot")
