"""Splits a document: windows over its units, cut at the best place in each window's second half.

A chunk has at most `chunking.tokens` tokens of text; each is counted once more as it will be embedded, since a
tokenizer may see more tokens in a part than it saw there in the whole. A chunk begins with about the last
`chunking.overlap` tokens of the one before it, when both are in the same section and no kept-together block has to
be taken apart for it; and no chunk lies inside its neighbour.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgbraid.clean import check_headings
from pgbraid.errors import SettingsError
from pgbraid.split.boundaries import Boundaries, Rank, find_boundaries
from pgbraid.split.markdown import find_blocks, find_headings, find_tables
from pgbraid.split.pieces import Units, cut_finely, find_units
from pgbraid.split.sections import Outline, context, labels, outline, runs
from pgbraid.values import Chunk, Chunking, Document, Heading, Tokenizer


def split(doc: Document, tokenizer: Tokenizer, chunking: Chunking) -> tuple[Chunk, ...]:
    """The chunks of a cleaned document, in order of their starts; none when its text is blank.

    Every character of the text that is no white space is in a chunk, and `doc.text[start:end] == text`. Only a single
    character that has more tokens than `chunking.tokens` by itself makes a larger chunk. Raises `SettingsError` when
    the sizes do not fit each other and `BadDocument` when given headings do not fit the text.
    """
    _check(chunking)
    check_headings(doc)
    headings = _headings(doc)
    units = find_units(doc.text, tokenizer, [heading.start for heading in headings])
    lines = outline(doc.text, headings)
    blocks = find_blocks(doc.text) if doc.format == "markdown" else find_tables(doc.text)
    boundaries = find_boundaries(units, lines, blocks, chunking.tokens)
    windows = _Windows(units, lines, boundaries, tokenizer, chunking)
    places = (place for run in runs(lines, units, chunking.tokens) for place in windows.cut(*run))
    return tuple(_chunk(doc, lines, ordinal, place) for ordinal, place in enumerate(places))


def _check(chunking: Chunking) -> None:
    if chunking.tokens < 1:
        raise SettingsError(f"chunking.tokens is {chunking.tokens}; a chunk needs at least 1 token.")
    if not 0 <= chunking.overlap < chunking.tokens:
        allowed = f"it must be at least 0 and below chunking.tokens, {chunking.tokens}"
        raise SettingsError(f"chunking.overlap is {chunking.overlap}; {allowed}.")


def _headings(doc: Document) -> Sequence[Heading]:
    if doc.headings is not None:
        return doc.headings
    return find_headings(doc.text) if doc.format == "markdown" else ()


def _chunk(doc: Document, lines: Outline, ordinal: int, place: tuple[int, int]) -> Chunk:
    names = labels(doc, lines, lines.path(*place))
    return Chunk(ordinal, *place, doc.text[slice(*place)], names, context(doc, names))


@dataclass(frozen=True, slots=True)
class _Windows:
    """Cuts stretches of one document. Positions inside are units; what comes out are characters."""

    units: Units
    lines: Outline
    boundaries: Boundaries
    tokenizer: Tokenizer
    chunking: Chunking

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The (start, end) of the chunks of the characters `start` up to `end`."""
        first, stop = self.units.at(start), self.units.at(end)
        done = first  # where the last chunk ended
        while done < stop:
            last = self._checked(first, self._end(first, done, stop))
            if last <= done < stop and first < done:
                first = done  # the overlap leaves no room for anything new
                continue
            yield from self._bounds(first, last)
            first, done = self._next(first, last, stop), last

    # ── where a chunk ends ──

    def _furthest(self, first: int, stop: int) -> int:
        limit = self.units.tokens[first] + self.chunking.tokens
        return min(max(bisect_right(self.units.tokens, limit, first, stop + 1) - 1, first + 1), stop)

    def _end(self, first: int, done: int, stop: int) -> int:
        furthest = self._furthest(first, stop)
        if furthest == stop:
            return stop
        block = self.boundaries.kept_around(self.units.starts[furthest])
        if block and self.units.at(block[0]) > done:
            return self.units.at(block[0])
        fresh = (self.chunking.tokens - self.chunking.overlap) // 2
        lowest = max(self._after(first, self.chunking.tokens // 2), self._after(done, fresh), done + 1)
        return self._best(min(lowest, furthest), furthest)

    def _after(self, unit: int, tokens: int) -> int:
        """The first unit that has at least `tokens` tokens between `unit` and itself."""
        return bisect_left(self.units.tokens, self.units.tokens[unit] + tokens, unit)

    def _best(self, lowest: int, furthest: int) -> int:
        """The last of the best places from `lowest` to `furthest`."""
        best, best_rank = furthest, self.boundaries.rank(furthest)
        for unit in range(furthest - 1, lowest - 1, -1):
            if best_rank >= Rank.HEADING:
                break
            if (rank := self.boundaries.rank(unit)) > best_rank:
                best, best_rank = unit, rank
        return best

    def _checked(self, first: int, last: int) -> int:
        """`last`, or an earlier end when the text up to it has too many tokens after all."""
        while last > first + 1:
            excess = self._tokens(*self.units.bounds(first, last)) - self.chunking.tokens
            if excess <= 0:
                break
            wanted = self.units.tokens[last] - excess
            last = max(min(bisect_left(self.units.tokens, wanted, first, last), last - 1), first + 1)
        return last

    def _tokens(self, start: int, end: int) -> int:
        return len(self.tokenizer.spans(self.units.text[start:end]))

    def _fits(self, start: int, end: int) -> bool:
        return self._tokens(start, end) <= self.chunking.tokens

    def _bounds(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        start, end = self.units.bounds(first, last)
        if last > first + 1 or self._fits(start, end):
            yield start, end
        else:
            yield from cut_finely(self.units.text, start, end, self._fits)

    # ── where the next chunk starts ──

    def _next(self, first: int, last: int, stop: int) -> int:
        """The unit that the chunk after units `first` up to `last` begins with."""
        if last >= stop or not self.chunking.overlap:
            return last
        lowest = max(first + 1, self._room_for_next(last, stop), self._overlap_start(last))
        nearest = max(lowest, bisect_right(self.units.tokens, self.units.tokens[last] - self.chunking.overlap // 2) - 1)
        best, best_rank = last, Rank.KEPT
        for unit in range(lowest, min(nearest + 1, last)):
            if (rank := self.boundaries.rank(unit)) > best_rank:
                best, best_rank = unit, rank
        return best

    def _overlap_start(self, last: int) -> int:
        """The first unit within the overlap of `last` and in the section of `last`."""
        section = self.units.at(self.lines.section_start(self.units.starts[last]))
        return max(section, bisect_left(self.units.tokens, self.units.tokens[last] - self.chunking.overlap))

    def _room_for_next(self, last: int, stop: int) -> int:
        """The first unit that leaves room for what follows: the block that starts at `last`, or half of what is new."""
        position = self.units.starts[last]
        block = self.boundaries.kept_around(position + 1)
        enough = self._after(last, (self.chunking.tokens - self.chunking.overlap + 1) // 2)
        after = self.units.at(block[1]) if block else enough
        needed = self.units.tokens[min(after, stop)] - self.chunking.tokens
        return bisect_left(self.units.tokens, needed)
