"""An explanation as one page that needs nothing else: the question's way as a picture, bars for time and scores, the
plan folded. Pure; every text of a user's or a document's is escaped, and there is no script.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pgbraid.cli.output import tame
from pgbraid.cli.picture import Box, picture

if TYPE_CHECKING:
    from pgbraid.explained import Explanation
    from pgbraid.values import MatchedChunk, Passage, SearchResult

TEXT = 600
Reach = tuple[float, float]


def page(explanation: Explanation) -> str:
    """The page. Everything that it shows is in it: it can be sent by mail and kept."""
    result = explanation.result
    body = [
        f"<h1>{_text(result.question)}</h1>",
        _flags(result),
        "<h2>The way of the question</h2>",
        picture(_stations(explanation)),
        _decision(result),
        "<h2>Time</h2>",
        _times(result.trace.milliseconds),
        _branches(explanation),
        "<h2>Passages</h2>",
        *(_passage(place, one, _reach(result)) for place, one in enumerate(result.passages, 1)),
        "" if result.passages else f"<p>{_text(_nothing(result))}</p>",
        _folded(explanation),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{_text(result.question)}</title><style>{_style()}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _style() -> str:
    return files("pgbraid.cli").joinpath("page.css").read_text(encoding="utf-8")


def _text(value: object) -> str:
    """Text fit for a page: control characters are gone, what means something in HTML does not any more."""
    return escape(tame(str(value)))


def _flags(result: SearchResult) -> str:
    said: list[tuple[str, bool]] = [(result.status, result.status == "nothing")]
    said += [(name, True) for name in ("degraded", "underfilled", "approximate") if getattr(result, name)]
    said += [
        (f"{result.trace.milliseconds.get('total', 0.0):.1f} ms", False),
        (f"{result.trace.round_trips} round trips", False),
    ]
    flags = "".join(f'<span class="{"bad" * bad}">{_text(word)}</span>' for word, bad in said)
    notes = [f"{failure.part}: {failure.reason}" for failure in result.failures] + list(result.trace.notes)
    return f'<div class="flags">{flags}</div>' + "".join(f'<p class="soft">{_text(note)}</p>' for note in notes)


def _stations(explanation: Explanation) -> list[list[Box]]:
    result, counts = explanation.result, explanation.result.trace.counts
    columns = [[Box("decision", result.decision.selector or "named by the caller")]]
    failed = {failure.part for failure in result.failures}
    hits = {name.removesuffix(" hits"): count for name, count in counts.items() if name.endswith(" hits")}
    asked = [Box(name, f"{count} hits", "" if count else "idle") for name, count in hits.items()]
    asked += [Box(part, "failed", "failed") for part in failed if part.startswith("embedder")]
    columns.append(asked or [Box("nobody", "was asked", "idle")])
    columns.append([Box("fusion", f"{counts.get('documents', 0)} documents")])
    if "reranked" in counts:
        columns.append([Box("rerank", f"{counts['reranked']} texts scored")])
    columns.append([Box("passages", f"{len(result.passages)} documents")])
    return columns


def _decision(result: SearchResult) -> str:
    decision = result.decision
    rows = [(("● " if c.name in decision.chosen else "○ ") + c.name, ", ".join(c.matched)) for c in decision.candidates]
    steps = [(step.selector, f"{step.outcome}: {step.reason}") for step in decision.steps]
    return f"<p>{_text(decision.reason)}</p>" + _table(("", ""), [*rows, *steps], head=False)


def _times(milliseconds: Mapping[str, float]) -> str:
    stages = {name: ms for name, ms in milliseconds.items() if name != "total"}
    longest = max([*stages.values(), 1e-9])
    rows = "".join(
        f'<tr><td>{_text(name)}</td><td class="n">{ms:.1f} ms</td><td class="track">'
        f'<div class="bar" style="width:{100 * ms / longest:.1f}%"></div></td></tr>'
        for name, ms in stages.items()
    )
    return f"<table>{rows}</table>"


def _branches(explanation: Explanation) -> str:
    """What PostgreSQL did for each branch."""
    if not explanation.branches:
        return ""
    head = ("branch", "hits", "read and left out", "served by", "ms", "pages in memory", "pages read")
    rows = [
        (b.name, b.rows, b.removed, ", ".join((*b.indexes, *(f"all of {t}" for t in b.scanned))) or "–",
         f"{b.milliseconds:.2f}", b.buffers_hit, b.buffers_read)
        for b in explanation.branches
    ]  # fmt: skip
    said = f"Planned in {explanation.planning_ms:.1f} ms, run in {explanation.execution_ms:.1f} ms under EXPLAIN."
    return f"<h2>Branches in PostgreSQL</h2>{_table(head, rows)}<p class='soft'>{said}</p>"


def _reach(result: SearchResult) -> Reach:
    """How far the sums of all chunks go below and above zero: one scale for every bar."""
    sums = [_ends([b.contribution for b in chunk.branches]) for one in result.passages for chunk in one.chunks]
    return min((low for low, _ in sums), default=0.0), max((high for _, high in sums), default=0.0)


def _ends(parts: Sequence[float]) -> Reach:
    return sum(p for p in parts if p < 0), sum(p for p in parts if p > 0)


def _passage(place: int, one: Passage, reach: Reach) -> str:
    score = f"fused {one.fused_score:.4f}"
    if one.rerank_score is not None:
        score = f"rerank {one.rerank_score:.4f} · {score}"
    chunks = "".join(_chunk(chunk, reach) for chunk in one.chunks)
    best = one.chunks[0].text if one.chunks else one.text
    return (
        f"<article><h3>{place} · {_text(one.title or one.external_id)}</h3>"
        f'<div class="soft">{_text(one.collection)} / {_text(one.external_id)} · {score}</div>'
        f"<blockquote>{_text(best[:TEXT])}{'…' * (len(best) > TEXT)}</blockquote>{chunks}</article>"
    )


def _chunk(chunk: MatchedChunk, reach: Reach) -> str:
    """The sum behind a chunk's score: a bar of what each branch added, and the numbers."""
    rows = [
        (b.branch, f"#{b.rank}", f"{b.metric} {b.score:.4f}", f"{b.contribution:+.4f}") for b in chunk.branches
    ] + [("fused score", "", "", f"{chunk.fused_score:+.4f}")]  # fmt: skip
    where = f"chunk {chunk.ordinal}, characters {chunk.start}–{chunk.end} · {chunk.fused_score:.4f}"
    head = ("", "rank", "score", "adds")
    bar = _sum([b.contribution for b in chunk.branches], reach, [row[0] for row in rows])
    return f"<details><summary>{where}{bar}</summary>{_table(head, rows)}</details>"


def _sum(parts: Sequence[float], reach: Reach, names: Sequence[str]) -> str:
    """Contributions one after the other from a line that is zero: to the right what adds, to the left what takes."""
    below, above = reach
    whole = (above - below) or 1.0
    zero, right, left = -below / whole * 100, -below / whole * 100, -below / whole * 100
    bars = []
    for shade, (part, name) in enumerate(zip(parts, names, strict=False)):
        width = abs(part) / whole * 100
        start = right if part >= 0 else left - width
        right, left = (right + width, left) if part >= 0 else (right, left - width)
        kind = "less" if part < 0 else ""
        place = f"left:{start:.1f}%;width:{width:.1f}%;opacity:{1 - 0.3 * (shade % 3):.1f}"
        bars.append(f'<i class="{kind}" style="{place}" title="{_text(name)} {part:+.4f}"></i>')
    return f'<div class="sum">{"".join(bars)}<b style="left:{zero:.1f}%"></b></div>'


def _folded(explanation: Explanation) -> str:
    if not explanation.statement:
        return ""
    return (
        "<h2>In the database</h2>"
        f'<details><summary>The plan</summary><div class="tree">{_node(explanation.plan["Plan"])}</div></details>'
        f"<details><summary>The statement, for psql</summary><pre>{escape(explanation.statement)}</pre></details>"
    )


def _node(node: Mapping[str, Any]) -> str:
    """A node of the plan; what is below it is folded away where it took next to nothing."""
    from pgbraid.explained import spent

    on = node.get("Index Name") or node.get("Relation Name") or node.get("CTE Name") or ""
    name = " ".join(filter(None, (node.get("Subplan Name"), node["Node Type"], on)))
    said = f"{_text(name)} <span class='soft'>{spent(node):.2f} ms · {node.get('Actual Rows', 0)} rows</span>"
    below = "".join(_node(child) for child in node.get("Plans", ()))
    if not below:
        return f"<div>{said}</div>"
    return f"<details{' open' * (spent(node) >= 1)}><summary>{said}</summary><div class='tree'>{below}</div></details>"


def _nothing(result: SearchResult) -> str:
    return "Nothing was found." if result.decision.chosen else "Nobody was asked, so nothing was found."


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], head: bool = True) -> str:
    first = f"<tr>{''.join(f'<th>{_text(c)}</th>' for c in columns)}</tr>" if head else ""
    return f"<table>{first}{''.join(_row(row) for row in rows)}</table>"


def _row(cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"
