"""Turns a text into units: the smallest parts that splitting moves, and how many tokens each one has.

The tokenizer is asked once per piece of bounded size, so a long text takes linear time. A unit begins at the first
character of a token that is no white space and owns all up to the next unit; text without any token is owned too, so
nothing can be lost. What a reader sees as one character is not cut, and a token of more than 32 characters counts as
one token per 8 characters: unknown words reach some tokenizers as a single token, however long.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise

from pgbraid.values import Tokenizer

PIECE = 8_192  # characters given to the tokenizer at once
LONG = 32
SHARE = 8
_LOOK_BACK = 64
_BREAKS = ("\n\n", "\n", ". ", "。", " ")
_ZWJ = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


@dataclass(frozen=True, slots=True)
class Units:
    """Where units start, how many tokens stand before each (with the total at the end), which are inside a token."""

    text: str
    starts: array[int] = field(default_factory=lambda: array("q"))
    tokens: array[int] = field(default_factory=lambda: array("q", [0]))
    inside: bytearray = field(default_factory=bytearray)

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, tokens: int, inside: bool = False) -> None:
        self.starts.append(start)
        self.tokens.append(self.tokens[-1] + tokens)
        self.inside.append(inside)

    def at(self, position: int) -> int:
        """The first unit that starts at `position` or later."""
        return bisect_left(self.starts, position)

    def count(self, first: int, last: int) -> int:
        """The tokens of units `first` up to, not with, `last`."""
        return self.tokens[last] - self.tokens[first]

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """Where the text of units `first` up to, not with, `last` starts and ends, without white space around it."""
        start = self.starts[first]
        end = self.starts[last] if last < len(self) else len(self.text)
        return start, start + len(self.text[start:end].rstrip())


def find_units(text: str, tokenizer: Tokenizer, borders: Sequence[int]) -> Units:
    """The units of a text. Every position in `borders` (ascending) starts a piece, hence no unit crosses one."""
    units = Units(text)
    edges = [0, *borders, len(text)]
    for start, end in pairwise(edges):
        for first, last in _pieces(text, start, end):
            _add_piece(units, tokenizer, first, last)
    return units


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > PIECE:
        cut = _piece_end(text, start, start + PIECE)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _piece_end(text: str, start: int, limit: int) -> int:
    for mark in _BREAKS:
        found = text.rfind(mark, start + PIECE // 2, limit)
        if found >= 0:
            return found + len(mark)
    return next((p for p in range(limit, limit - _LOOK_BACK, -1) if may_cut(text, p)), limit)


def _add_piece(units: Units, tokenizer: Tokenizer, first: int, last: int) -> None:
    text = units.text
    first = skip_space(text, first, last)
    if first == last:
        return
    last_start, waiting = first, 0
    for start, end in tokenizer.spans(text[first:last]):
        here = skip_space(text, first + start, first + end)
        if here > last_start and here < first + end and may_cut(text, here):
            _add_unit(units, last_start, here, waiting)
            last_start, waiting = here, 0
        waiting += 1
    _add_unit(units, last_start, last, waiting)


def _add_unit(units: Units, start: int, end: int, tokens: int) -> None:
    """Adds the text up to `end` as one unit, or as several when it is longer than any token should be."""
    text = units.text
    if end - start <= LONG or (end := start + len(text[start:end].rstrip())) - start <= LONG:
        units.add(start, tokens)
        return
    cuts = [start, *_cuts(text, start, end, SHARE)]
    share = -(-tokens // len(cuts))
    for i, cut in enumerate(cuts):
        units.add(cut, max(1, share), inside=i > 0)


def _cuts(text: str, start: int, end: int, share: int) -> Iterator[int]:
    """Places between `start` and `end` that are about `share` characters apart and in no character's middle."""
    cut = start
    while (wanted := cut + share) < end:
        cut = skip_space(text, wanted, end)
        # A run of marks longer than this is noise and may be cut anywhere.
        cut = next(
            (p for p in range(cut, min(cut + _LOOK_BACK, end)) if may_cut(text, p) and not text[p].isspace()), cut
        )
        if cut < end:
            yield cut


def cut_finely(text: str, start: int, end: int, fits: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """Cuts a unit that has too many tokens into the longest parts that fit, at least a code point each."""
    places = [*_cuts(text, start, end, 1), end]
    while start < end:
        visible = (p for p in reversed(places) if p > start)
        anywhere = range(min(start + _LOOK_BACK, end), start, -1)
        stop = next((p for p in chain(visible, anywhere) if fits(start, p)), start + 1)
        yield start, start + len(text[start:stop].rstrip())
        start = skip_space(text, stop, end)


def skip_space(text: str, start: int, end: int) -> int:
    """The first position from `start` on, up to `end`, that is no white space."""
    while start < end and text[start].isspace():
        start += 1
    return start


# ── what a reader sees as one character ────────────────────────────────────────────────────────────────────


def may_cut(text: str, position: int) -> bool:
    """Whether a text may be cut before `position` without taking apart what a reader sees as one character."""
    if position <= 0 or position >= len(text):
        return True
    kind, before = _kind(text[position]), text[position - 1]
    if kind == "plain":
        return before != _ZWJ
    if kind == "flag" and _kind(before) == "flag":
        return _between_flags(text, position)
    if kind == "low":
        return not "\ud800" <= before <= "\udbff"
    return kind == "flag" and before != _ZWJ


@lru_cache(maxsize=65_536)
def _kind(char: str) -> str:
    """What a character does to the one before: `joins` it (marks, joiners, skin tones, tags, Hangul vowels) or not."""
    if (
        unicodedata.category(char)[0] == "M"
        or char == _ZWJ
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"
    ):
        return "joins"
    if char in _FLAG_LETTERS:
        return "flag"
    return "low" if "\udc00" <= char <= "\udfff" else "plain"


def _between_flags(text: str, position: int) -> bool:
    """A flag is two regional letters: between flags an even number of them stands before."""
    before = text[max(0, position - 1000) : position]
    return (len(before) - len(before.rstrip(_FLAG_LETTERS))) % 2 == 0
