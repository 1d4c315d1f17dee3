"""Divides a document at its headings, joins small sections, and names what stands above a chunk.

A section runs from one heading to the next. One that has less than a quarter of the budget is joined with the
sections that follow it, as long as they stand under the same parent heading and all fit one chunk: a page of short
answers becomes a few chunks instead of hundreds, and no chunk mixes two chapters. A heading without a body is joined
with what follows even when that is long: alone it would match every question that uses its words and answer none. A
chunk over several sections has the headings that all of them share; the others are lines of its text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pgbraid.split.pieces import Units
from pgbraid.values import Document, Heading

SMALL = 4  # a section is small below this part of the budget
LABEL = 200  # characters of a heading in paths and contexts: a page may put a whole paragraph into one

Path = tuple[int, ...]  # places in the list of headings: two headings with the same words are not the same


@dataclass(frozen=True, slots=True)
class Section:
    """Text under one heading: the characters `start` up to `end`, and its headings from the outermost."""

    start: int
    end: int
    path: Path


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a document and its sections, in order; sections without words are left out."""

    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]
    starts: tuple[int, ...]

    def path(self, start: int, end: int) -> Path:
        """The headings shared by all sections that the characters `start` up to `end` touch."""
        first, last = self._section(start), self._section(end - 1)
        shared = self.sections[first].path
        for section in self.sections[first + 1 : last + 1]:
            shared = _shared(shared, section.path)
        return shared

    def section_start(self, position: int) -> int:
        """Where the section starts that `position` is in."""
        return self.starts[self._section(position)]

    def _section(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


def outline(text: str, headings: Sequence[Heading]) -> Outline:
    """The outline of `text`, whose first word starts the first section."""
    sections = []
    stack: list[int] = []
    starts = [0, *(heading.start for heading in headings), len(text)]
    for number, (start, end) in enumerate(pairwise(starts), start=-1):
        if number >= 0:
            while stack and headings[stack[-1]].level >= headings[number].level:
                stack.pop()
            stack.append(number)
        words = text[start:end]
        if words.strip():
            sections.append(Section(start + len(words) - len(words.lstrip()), end, tuple(stack)))
    return Outline(tuple(headings), tuple(sections), tuple(section.start for section in sections))


def runs(outline: Outline, units: Units, budget: int) -> list[tuple[int, int]]:
    """The stretches of characters that are split on their own: a section, or small ones joined."""
    found: list[tuple[int, int]] = []
    group = _Group()
    for section in outline.sections:
        if group.sections and not _joins(group, section, units, budget):
            found.append(group.bounds)
            group = _Group()
        group.sections.append(section)
        group.bare = group.bare and _is_bare(section, units.text)
    return [*found, group.bounds] if group.sections else found


@dataclass(slots=True)
class _Group:
    """Sections to be split as one, and whether they are headings without a body."""

    sections: list[Section] = field(default_factory=list)
    bare: bool = True

    @property
    def bounds(self) -> tuple[int, int]:
        return self.sections[0].start, self.sections[-1].end


def _joins(group: _Group, section: Section, units: Units, budget: int) -> bool:
    parent = group.sections[0].path[:-1]
    if section.path[: len(parent)] != parent:
        return False
    size = _tokens(units, *group.bounds)
    small = size * SMALL < budget and size + _tokens(units, section.start, section.end) <= budget
    return small or group.bare


def _is_bare(section: Section, text: str) -> bool:
    """Whether a section is a heading line and nothing else; a setext heading has its underline as well."""
    if not section.path:
        return False
    lines = text[section.start : section.end].split("\n", 2)
    underline = len(lines) > 1 and lines[1].strip() and not lines[1].strip().strip("=-")
    body = lines[2:] if underline else lines[1:]
    return not any(line.strip() for line in body)


def _tokens(units: Units, start: int, end: int) -> int:
    return units.count(units.at(start), units.at(end))


def _shared(one: Path, other: Path) -> Path:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]


# ── names ──────────────────────────────────────────────────────────────────────────────────────────────────


def labels(doc: Document, outline: Outline, path: Path) -> tuple[str, ...]:
    """The words of a path, outermost first, without a highest heading that repeats the document's title."""
    names = [_label(outline.headings[number].title) for number in path]
    if path and outline.headings[path[0]].level == 1 and _same(names[0], _label(doc.title)):
        names = names[1:]
    return tuple(name for name in names if name)


def context(doc: Document, names: Sequence[str]) -> str:
    """Title and headings in one line."""
    title = _label(doc.title)
    below = names[1:] if names and _same(names[0], title) else names
    return " > ".join(part for part in (title, *below) if part)


def _label(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= LABEL else line[: LABEL - 1].rstrip() + "…"


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
