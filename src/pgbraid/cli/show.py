"""How answers look to people, on 80 columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pgbraid.cli.output import console, tame

if TYPE_CHECKING:
    from pgbraid.values import Decision, Passage, SearchResult, Trace

EXCERPT_LINES = 3
INDENT = 4
_HEADINGS = re.compile(r"\A(?:#{1,6} [^\n]*\s*)+")


def print_decision(question: str, decision: Decision) -> None:
    """A question, who is asked, and why; then every collection with what spoke for it."""
    _print_heading(question, decision)
    out = console()
    for candidate in decision.candidates:
        chosen = candidate.name in decision.chosen
        score = "" if candidate.score is None else f"  {candidate.score:.4f}"
        why = "  ".join((score, ", ".join(candidate.matched))).rstrip()
        out.print(tame(f"  {'●' if chosen else '○'} {candidate.name}{why}"), style="" if chosen else "dim")


def print_result(result: SearchResult) -> None:
    """A question's answer: the decision, the passages, the time."""
    _print_heading(result.question, result.decision)
    for place, passage in enumerate(result.passages, 1):
        _print_passage(place, passage)
    _print_flags(result)
    _indented(timing(result.trace), 0, "dim")


def timing(trace: Trace) -> str:
    """Milliseconds by stage, in one line, with the number of round trips."""
    stages = {**trace.milliseconds}
    total = stages.pop("total", sum(stages.values()))
    parts = " · ".join(f"{name.replace('_', ' ')} {ms:.1f}" for name, ms in stages.items())
    trips = f"{trace.round_trips} round trip{'' if trace.round_trips == 1 else 's'}"
    return f"{total:.1f} ms, {trips}: {parts}"


def _print_heading(question: str, decision: Decision) -> None:
    from rich.text import Text

    out = console()
    out.print(Text(tame(question), style="bold"))
    asked = ", ".join(decision.chosen) or "nothing"
    out.print(Text.assemble(("→ ", "dim"), (tame(asked), "bold cyan" if decision.chosen else "bold yellow")))
    profile = f", profile {decision.profile}" if decision.profile else ""
    why = f"{decision.reason}{profile}, in {decision.milliseconds:.1f} ms"
    _indented(why, 2, "dim")


def _print_passage(place: int, passage: Passage) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    title = Table.grid(expand=True, padding=(0, 1))
    title.add_column(width=INDENT - 1, justify="right", style="dim")
    title.add_column(ratio=1, overflow="fold", style="bold")
    title.add_column(justify="right", no_wrap=True, style="cyan")
    name = passage.title or passage.external_id
    title.add_row(str(place), Text(tame(name)), Text(tame(f"{passage.collection}")))
    out.print()
    out.print(title)
    best = passage.chunks[0]
    _indented(_scores(passage), INDENT, "green")
    path = [h for h in best.headings if h != passage.title]
    if path:
        _indented(" › ".join(path), INDENT, "italic dim")
    for line in excerpt(best.text, out.width - INDENT):
        _indented(line, INDENT)


def _scores(passage: Passage) -> str:
    rerank = "" if passage.rerank_score is None else f"rerank {passage.rerank_score:.4f} · "
    parts = ", ".join(f"{b.branch} #{b.rank} {b.metric} {b.score:.3f}" for b in passage.chunks[0].branches)
    return f"{rerank}fused {passage.fused_score:.4f} · {parts}"


def excerpt(text: str, width: int, lines: int = EXCERPT_LINES) -> list[str]:
    """The beginning of a text as at most so many lines of so many cells; a Chinese character takes two."""
    from rich.text import Text

    body = _HEADINGS.sub("", text.lstrip()) or text  # the heading path says it already
    flat = re.sub(r"\s+", " ", tame(body)).strip()
    wrapped = _wrapped(flat, width)
    if len(wrapped) <= lines:
        return wrapped
    last = Text(wrapped[lines - 1] + "…")
    last.truncate(max(width, 20), overflow="ellipsis")
    return [*wrapped[: lines - 1], last.plain]


def _wrapped(text: str, width: int) -> list[str]:
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(console(), max(width, 20))]


def _indented(text: str, indent: int, style: str = "") -> None:
    """A paragraph that stands in from the left, also where it wraps."""
    out = console()
    for line in _wrapped(tame(text), out.width - indent):
        out.print(" " * indent + line, style=style)


def _print_flags(result: SearchResult) -> None:
    out = console()
    out.print()
    if result.status == "nothing":
        out.print(
            "Nothing was found." if result.decision.chosen else "Nobody was asked, so nothing was found.",
            style="yellow",
        )
    if result.underfilled:
        out.print("Fewer passages than asked, although more documents may match.", style="yellow")
    if result.approximate:
        out.print("An index was used: it may have missed some.", style="dim")
    for failure in result.failures:
        code = f" [{failure.sqlstate}]" if failure.sqlstate else ""
        out.print(tame(f"degraded: {failure.part}: {failure.reason}{code}"), style="red")
    for text in result.trace.notes:
        out.print(tame(f"note: {text}"), style="dim")
