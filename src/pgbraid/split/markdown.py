"""Finds in Markdown what splitting must respect: headings, and blocks that belong together.

It is a scanner of lines, not a parser: it knows ATX and setext headings, fenced code, tables and lists, and nothing
inside a line but the marks it takes off a heading's words. A `#` inside a fence is no heading. A setext heading must
be one line long: in practice `---` under several lines is a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pgbraid.values import Heading

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_EMPHASIS = re.compile(r"`+|\*\*|(?<!\w)__|__(?!\w)|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])")
_ATTRIBUTES = re.compile(r"[ \t]*\{[#.:][^{}]*\}$")
_LONGEST_TITLE = 1000
_LONGEST_MARK = 1000  # no rule or underline is longer; keeps pathological lines away from the patterns


@dataclass(frozen=True, slots=True)
class Block:
    """Text that belongs together: a fence, a table, or a list with its items as `parts`."""

    start: int
    end: int
    parts: tuple[tuple[int, int], ...] = ()


class Line(NamedTuple):  # made for every line twice: three times cheaper than a frozen dataclass
    """A line without its line end, where it stands, whether it is fenced code (marks included) or opens a fence."""

    start: int
    text: str
    fenced: bool = False
    opens: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def indent(self) -> int:
        if not self.text.startswith((" ", "\t")):
            return 0
        return len(self.text) - len(self.text.lstrip(" \t")) + 3 * self.text[:3].count("\t")


def find_headings(text: str) -> tuple[Heading, ...]:
    """The ATX and setext headings of a Markdown text, in order; those without words are left out."""
    return tuple(_headings(text))


def find_blocks(text: str) -> tuple[Block, ...]:
    """The fences, tables and lists of a Markdown text, in order, not overlapping."""
    return tuple(_blocks(scan(text)))


def find_tables(text: str) -> tuple[Block, ...]:
    """The runs of two or more lines with a `|` in any text, in order."""
    return tuple(_tables(_lines(text)))


# ── lines and fences ───────────────────────────────────────────────────────────────────────────────────────


def _lines(text: str) -> Iterator[Line]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield Line(start, text[start:end])
        start = end + 1


def scan(text: str) -> Iterator[Line]:
    """The lines of a Markdown text, those of fenced code marked. An open fence ends with the text."""
    fence = ""
    in_list = False
    for line in _lines(text):
        if fence:
            yield Line(line.start, line.text, True)
            fence = "" if _closes(line.text, fence) else fence
            continue
        if not line.blank:
            in_list = (in_list and line.indent > 0) or _ITEM.match(line.text) is not None
        # Deep indentation makes a fence plain code, except in a list, where it is how fences are written.
        opened = _FENCE.match(line.text) if line.indent <= 3 or in_list else None
        fence = opened.group(1) if opened else ""
        yield Line(line.start, line.text, bool(fence), bool(fence))


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


# ── headings ───────────────────────────────────────────────────────────────────────────────────────────────


def _headings(text: str) -> Iterator[Heading]:
    before: Line | None = None  # the line above, when it is a paragraph of one line so far
    in_paragraph = False
    for line in scan(text):
        level = 0 if line.fenced else _atx_level(line)
        underline = _UNDERLINE.match(line.text[:_LONGEST_MARK]) if before and not line.fenced else None
        if level:
            heading = Heading(level, _title(line.text.strip().lstrip("#")), line.start)
        elif before and underline:
            heading = Heading(1 if underline.group(1)[0] == "=" else 2, _title(before.text), before.start)
        else:
            plain = not line.fenced and _may_be_paragraph(line)
            before, in_paragraph = (line if plain and not in_paragraph else None), plain
            continue
        before, in_paragraph = None, False
        if heading.title:
            yield heading


def _atx_level(line: Line) -> int:
    words = line.text.lstrip(" ")
    if not words.startswith("#") or line.indent > 3:
        return 0
    level = len(words) - len(words.lstrip("#"))
    return level if level <= 6 and (len(words) == level or words[level] in " \t") else 0


def _may_be_paragraph(line: Line) -> bool:
    if line.blank or line.indent > 3 or line.text.lstrip().startswith((">", "|")):
        return False
    return not _ITEM.match(line.text) and not _RULE.match(line.text[:_LONGEST_MARK])


def _title(words: str) -> str:
    """The words of a heading without closing marks, links, emphasis and attributes."""
    words = words.strip()[:_LONGEST_TITLE]
    opened = words.rstrip("#")
    words = opened.rstrip() if not opened or opened[-1] in " \t" else words
    words = _LINK.sub(r"\1", _ATTRIBUTES.sub("", words))
    return " ".join(_EMPHASIS.sub("", words).split())


# ── blocks ─────────────────────────────────────────────────────────────────────────────────────────────────


def _blocks(lines: Iterator[Line]) -> Iterator[Block]:
    pending: list[Line] = []  # the lines of the block being read
    kind = ""
    for line in lines:
        now = _kind_of(line, kind, bool(pending) and pending[-1].blank)
        if now != kind or (now == "fence" and line.opens):
            yield from _closed(kind, pending)
            pending, kind = [], now
        if kind:
            pending.append(line)
    yield from _closed(kind, pending)


def _kind_of(line: Line, kind: str, after_blank: bool) -> str:
    """The kind of block that a line belongs to, when the line above belongs to `kind`."""
    if kind == "list" and _continues_list(line, after_blank):
        return "list"
    if line.fenced:
        return "fence"
    if line.blank or _atx_level(line):
        return ""
    if _ITEM.match(line.text) and line.indent <= 3 and not _RULE.match(line.text[:_LONGEST_MARK]):
        return "list"
    return "table" if "|" in line.text else ""


def _continues_list(line: Line, after_blank: bool) -> bool:
    if line.blank or line.indent >= 2 or (line.fenced and not line.opens):
        return True
    if line.opens or _atx_level(line) or _RULE.match(line.text[:_LONGEST_MARK]):
        return False
    return not after_blank or _ITEM.match(line.text) is not None


def _closed(kind: str, lines: list[Line]) -> Iterator[Block]:
    while lines and lines[-1].blank:
        lines.pop()
    if not lines or (kind == "table" and len(lines) < 2):
        return
    end = lines[-1].end
    if kind != "list":
        yield Block(lines[0].start, end)
        return
    outermost = lines[0].indent + 1
    starts = [line.start for line in lines if not line.fenced and line.indent <= outermost and _ITEM.match(line.text)]
    yield Block(lines[0].start, end, tuple(zip(starts, [*starts[1:], end], strict=True)))


def _tables(lines: Iterator[Line]) -> Iterator[Block]:
    rows: list[Line] = []
    for line in lines:
        if "|" in line.text:
            rows.append(line)
            continue
        yield from _closed("table", rows)
        rows = []
    yield from _closed("table", rows)
