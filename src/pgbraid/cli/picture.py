"""The way of a question as a picture: decision, branches, fusion, rerank, documents, as SVG. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from pgbraid.cli.output import tame

WIDTH, BOX, TALL, GAP, TOP = 1000, 168, 46, 14, 30


@dataclass(frozen=True, slots=True)
class Box:
    """A station: its title, a line below, and how it is marked (`""`, `failed`, `idle`)."""

    title: str
    below: str
    mark: str = ""


def picture(columns: Sequence[Sequence[Box]]) -> str:
    """Columns from left to right, each station joined to all of the next column."""
    tallest = max(len(column) for column in columns)
    height = TOP + tallest * (TALL + GAP) + 6
    step = (WIDTH - BOX) / max(1, len(columns) - 1)
    places = [
        [(i * step, _top(height, len(column), j)) for j in range(len(column))] for i, column in enumerate(columns)
    ]
    parts = [f'<svg viewBox="-2 0 {WIDTH + 4} {height}" role="img" aria-label="The way of the question">']
    for left, right in pairwise(places):
        parts += [_line(a, b) for a in left for b in right]
    for column, places_of in zip(columns, places, strict=True):
        parts += [_box(box, place) for box, place in zip(column, places_of, strict=True)]
    return "".join([*parts, "</svg>"])


def _top(height: float, count: int, number: int) -> float:
    return (height - count * (TALL + GAP) + GAP) / 2 + number * (TALL + GAP)


def _line(a: tuple[float, float], b: tuple[float, float]) -> str:
    x1, y1, x2, y2 = a[0] + BOX, a[1] + TALL / 2, b[0], b[1] + TALL / 2
    middle = (x1 + x2) / 2
    return f'<path class="way" d="M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"/>'


def _box(box: Box, place: tuple[float, float]) -> str:
    x, y = place
    return (
        f'<g class="box {box.mark}"><title>{_text(box.title)}: {_text(box.below)}</title>'
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX}" height="{TALL}" rx="8"/>'
        f'<text x="{x + 12:.0f}" y="{y + 19:.0f}" class="title">{_text(_short(box.title))}</text>'
        f'<text x="{x + 12:.0f}" y="{y + 36:.0f}">{_text(_short(box.below))}</text></g>'
    )


def _text(value: str) -> str:
    return escape(tame(value))


def _short(text: str, longest: int = 25) -> str:
    """What fits into a box; letters of Chinese, Japanese and Korean take two places."""
    taken, shown = 0, ""
    for letter in text:
        taken += 2 if ord(letter) > 0x2E7F else 1
        if taken > longest:
            return shown + "…"
        shown += letter
    return shown
