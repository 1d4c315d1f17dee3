"""Says how good a place is to cut a text: at a heading, between paragraphs, lines, sentences, words, or worse."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from pgbraid.split.markdown import Block
from pgbraid.split.pieces import Units, skip_space
from pgbraid.split.sections import Outline

_SENTENCE_ENDS = frozenset(".!?…؟۔।॥")  # followed by white space
_CJK_ENDS = frozenset("。！？；｡")  # followed by anything
_CJK_COMMAS = frozenset("，、：")
_CLOSERS = frozenset("\"')]}”’»」』）》】〉〕")


class Rank(IntEnum):
    """How good a place is to cut at; higher is better."""

    KEPT = -2  # inside a block that fits a chunk
    CHARACTER = -1
    TOKEN = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4
    HEADING = 5


Places = tuple[tuple[int, int], ...]  # (start, end) in characters, ascending, not overlapping


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The places to cut a document at: where sections start, and the blocks that fit a chunk or do not.

    `edges` are the first words of blocks and after them; `kept` fit a chunk, `broken` do not.
    """

    units: Units
    heads: frozenset[int]
    edges: frozenset[int]
    kept: Places
    broken: Places

    def rank(self, unit: int) -> Rank:
        """How good it is to cut before a unit."""
        position = self.units.starts[unit]
        if position in self.heads:
            return Rank.HEADING
        if self.kept and self.kept_around(position):
            return Rank.KEPT
        if position in self.edges:
            return Rank.PARAGRAPH
        if self.units.inside[unit]:
            return Rank.CHARACTER
        rank = _rank_in_text(self.units.text, position)
        return min(rank, Rank.LINE) if self.broken and _around(self.broken, position) else rank

    def kept_around(self, position: int) -> tuple[int, int] | None:
        """The block that fits a chunk and that a cut at `position` would take apart."""
        return _around(self.kept, position)


def find_boundaries(units: Units, outline: Outline, blocks: Sequence[Block], budget: int) -> Boundaries:
    """Blocks of at most `budget` tokens are kept together; of a longer list each item that fits."""
    kept: list[tuple[int, int]] = []
    broken: list[tuple[int, int]] = []
    for block in blocks:
        whole = _words(units.text, block.start, block.end)
        if _fits(units, whole, budget):
            kept.append(whole)
        else:
            broken.append(whole)
            parts = (_words(units.text, start, end) for start, end in block.parts)
            kept += (part for part in parts if _fits(units, part, budget))
    text = units.text
    edges = {skip_space(text, edge, len(text)) for block in blocks for edge in (block.start, block.end)}
    return Boundaries(units, frozenset(outline.starts), frozenset(edges), tuple(kept), tuple(broken))


def cuts(text: str, least: Rank) -> list[int]:
    """Every place of a text to cut before that is at least this good, without blocks and headings, ascending."""
    return [at for at in range(1, len(text)) if not text[at].isspace() and _rank_in_text(text, at) >= least]


def _words(text: str, start: int, end: int) -> tuple[int, int]:
    """The same stretch without white space around it."""
    start = skip_space(text, start, end)
    return start, start + len(text[start:end].rstrip())


def _fits(units: Units, place: tuple[int, int], budget: int) -> bool:
    return units.count(units.at(place[0]), units.at(place[1])) <= budget


def _around(places: Places, position: int) -> tuple[int, int] | None:
    """The place that `position` is inside of, not at its start or end."""
    found = bisect_left(places, (position, 0)) - 1
    if found >= 0 and position < places[found][1]:
        return places[found]
    return None


# ── in running text ────────────────────────────────────────────────────────────────────────────────────────


def _rank_in_text(text: str, position: int) -> Rank:
    before = text[position - 1]
    if not before.isspace():
        if before in _CJK_COMMAS:
            return Rank.WORD
        return Rank.SENTENCE if _ends_cjk(text, position) and _may_begin(text[position]) else Rank.TOKEN
    end = position
    while end > 0 and text[end - 1].isspace():
        end -= 1
    lines = text.count("\n", end, position)
    if lines:
        return Rank.PARAGRAPH if lines > 1 else Rank.LINE
    return Rank.SENTENCE if _ends_sentence(text, end) and not text[position].islower() else Rank.WORD


def _last_but_closers(text: str, end: int) -> str:
    """The last character before `end` that closes no quotation or bracket; a few closers at most are looked through."""
    for position in range(end - 1, max(-1, end - 5), -1):
        if text[position] not in _CLOSERS:
            return text[position]
    return ""


def _ends_cjk(text: str, end: int) -> bool:
    return _last_but_closers(text, end) in _CJK_ENDS


def _ends_sentence(text: str, end: int) -> bool:
    last = _last_but_closers(text, end)
    return last in _SENTENCE_ENDS or last in _CJK_ENDS


def _may_begin(char: str) -> bool:
    return char not in _CJK_ENDS and char not in _CLOSERS and char not in _SENTENCE_ENDS
