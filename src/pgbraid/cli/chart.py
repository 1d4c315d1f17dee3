"""A line chart as SVG, written by hand: enough to compare a few measurements, and nothing to install. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 760, 420, 70, 50, 40
COLOURS = ("#0b6e99", "#c4502e", "#4d7c3a", "#7a4fa3", "#a67c00", "#444444")
Point = tuple[float, float]
TINY = 1e-9


def chart(lines: Mapping[str, Sequence[Point]], title: str, across: str, up: str, floor: float = 0.0) -> str:
    """Lines through points, each with its name in a legend. Across begins at 0, up at `floor`, below every point."""
    right, high = _largest(lines, 0), max(_largest(lines, 1), floor + TINY)

    def place(point: Point) -> Point:
        x = LEFT + point[0] / right * (WIDTH - LEFT - 20)
        return x, HEIGHT - BOTTOM - (point[1] - floor) / (high - floor) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 18 * len(lines)}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
        f'<text x="{WIDTH - 20}" y="{HEIGHT - 12}" text-anchor="end">{escape(across)}</text>',
        f'<text x="{LEFT}" y="{TOP - 4}">{escape(up)}</text>',
    ]
    for step in range(6):
        parts += _grid((step / 5 * right, floor + step / 5 * (high - floor)), place)
    for at, (name, points) in enumerate(lines.items()):
        parts += _line(at, name, [place(point) for point in sorted(points)])
    return "\n".join([*parts, "</svg>\n"])


def _largest(lines: Mapping[str, Sequence[Point]], axis: int) -> float:
    return max((point[axis] for points in lines.values() for point in points), default=0.0) or 1.0


def _grid(at: Point, place: Callable[[Point], Point]) -> list[str]:
    (x, y), (right, high) = at, place(at)
    return [
        f'<line x1="{LEFT}" y1="{high:.1f}" x2="{WIDTH - 20}" y2="{high:.1f}" stroke="#dddddd"/>',
        f'<text x="{LEFT - 6}" y="{high + 4:.1f}" text-anchor="end">{_number(y)}</text>',
        f'<text x="{right:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_number(x)}</text>',
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == 0 or abs(value) >= 100 else f"{value:.3g}"


def _line(at: int, name: str, places: Sequence[Point]) -> list[str]:
    colour, y = COLOURS[at % len(COLOURS)], HEIGHT + 18 * at
    dash = ' stroke-dasharray="5 3"' if at >= len(COLOURS) else ""
    through = " ".join(f"{x:.1f},{up:.1f}" for x, up in places)
    dots = [f'<circle cx="{x:.1f}" cy="{up:.1f}" r="3" fill="{colour}"/>' for x, up in places]
    return [
        f'<polyline points="{through}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>',
        *dots,
        f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + 24}" y2="{y}" stroke="{colour}" stroke-width="2"{dash}/>',
        f'<text x="{LEFT + 32}" y="{y + 4}">{escape(name)}</text>',
    ]
