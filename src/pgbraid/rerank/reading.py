"""What becomes of a text that is longer than its reader reads, for rerankers that are handed texts and not rows.

Such a reranker has a `limit`: how much of a text it reads, in which unit, and where the units of a text end. Models
that read pairs of tokens cut in their own tokenizer (`embed.tokens`), by the same three rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgbraid.values import Overflow

Span = tuple[int, int]


def characters(text: str) -> Sequence[Span]:
    """Each character of a text as a unit."""
    return [(at, at + 1) for at in range(len(text))]


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a text is read: `longest` of what `unit` names; `spans` tells where each stands in a text."""

    longest: int
    unit: str = "characters"
    spans: Callable[[str], Sequence[Span]] = characters


@dataclass(frozen=True, slots=True)
class Cut:
    """A text as it is read: its size in units, and its pieces; none when it is too long and was not to be cut."""

    size: int
    pieces: tuple[str, ...]


def cut(text: str, limit: Limit | None, overflow: Overflow) -> Cut:
    """The text itself where it fits or nothing limits it.

    Else no piece (`reject`), its beginning (`truncate`), or windows that share a quarter with their neighbours and
    cover it (`window`).
    """
    if limit is None:
        return Cut(len(text), (text,))
    spans, room = limit.spans(text), limit.longest
    if len(spans) <= room:
        return Cut(len(spans), (text,))
    if overflow == "reject":
        return Cut(len(spans), ())
    shared = room // 4
    starts = range(0, len(spans) - shared, room - shared) if overflow == "window" else [0]
    return Cut(len(spans), tuple(_between(text, spans[at : at + room]) for at in starts))


def _between(text: str, spans: Sequence[Span]) -> str:
    return text[spans[0][0] : spans[-1][1]]
