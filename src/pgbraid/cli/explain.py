"""`--explain` and `explain`: where an answer came from, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pgbraid.cli.output import console, tame

if TYPE_CHECKING:
    from rich.table import Table

    from pgbraid.explained import Explanation
    from pgbraid.values import MatchedChunk, SearchResult

CHUNKS = 3


def print_explanation(result: SearchResult) -> None:
    """Everything that a result knows about itself."""
    out = console()
    out.print()
    out.rule("why", align="left")
    decision = result.decision
    policy = f", policy {decision.policy}" if decision.policy else ""
    out.print(tame(f"decided by {decision.selector}{policy}: {decision.reason}"))
    for candidate in decision.candidates:
        mark = "●" if candidate.name in decision.chosen else "○"
        out.print(tame(f"  {mark} {candidate.name}  {', '.join(candidate.matched)}").rstrip())
    out.print()
    out.print(_grid(("count", "n"), result.trace.counts.items()))
    for place, passage in enumerate(result.passages, 1):
        out.print()
        out.print(tame(f"{place} {passage.collection}/{passage.external_id}"), style="bold")
        for chunk in passage.chunks[:CHUNKS]:
            _print_arithmetic(chunk)
        if len(passage.chunks) > CHUNKS:
            out.print(f"  {len(passage.chunks) - CHUNKS} more chunks matched (--json has all)", style="dim")
    out.print()
    out.print(_grid(("stage", "ms"), ((k, f"{ms:.3f}") for k, ms in result.trace.milliseconds.items())))


def print_branches(explanation: Explanation) -> None:
    """What PostgreSQL did for each branch, and the statement, for psql."""
    if not explanation.statement:
        return
    out = console(wide=True)
    columns = ("branch", "hits", "left out", "ms", "pages hit", "pages read", "served by")
    rows = [
        (b.name, b.rows, b.removed, f"{b.milliseconds:.2f}", b.buffers_hit, b.buffers_read,
         ", ".join((*b.indexes, *(f"all of {table}" for table in b.scanned))))
        for b in explanation.branches
    ]  # fmt: skip
    out.print()
    out.print(_grid(columns, rows))
    out.print(f"planned in {explanation.planning_ms:.1f} ms, run in {explanation.execution_ms:.1f} ms under EXPLAIN")
    out.print()
    out.rule("statement", align="left")
    out.print(explanation.statement, soft_wrap=True)


def _print_arithmetic(chunk: MatchedChunk) -> None:
    out = console()
    rerank = "" if chunk.rerank_score is None else f", rerank {chunk.rerank_score!r}"
    out.print(tame(f"  chunk {chunk.ordinal}, characters {chunk.start}–{chunk.end}{rerank}"))
    rows = [
        (f"    {b.branch}", f"#{b.rank}", f"{b.metric} {b.score:.6f}", f"{b.contribution:+.6f}") for b in chunk.branches
    ]
    rows.append(("    = fused score", "", "", f"{chunk.fused_score:+.6f}"))
    out.print(_grid(("", "rank", "score", "adds"), rows, header=False))


def _grid(columns: Sequence[str], rows: Iterable[Sequence[object]], header: bool = True) -> Table:
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0), show_header=header, header_style="dim")
    for place, column in enumerate(columns):
        shown.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        shown.add_row(*(tame(str(cell)) for cell in row))
    return shown
