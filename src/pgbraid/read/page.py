"""Lays out the text of a page: white space, blank lines, rows of tables, and where headings start."""

from __future__ import annotations

import re

from pgbraid.values import Heading

_SPACE = re.compile("[ \t\n\r\f\v\xa0]+")


class Page:
    """Text that grows to the right. Breaks are only remembered and written before the next words."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self._parts: list[str] = []
        self._length = 0
        self._breaks = 0  # line ends to write before the next words
        self._space = False  # a space to write before the next words
        self._prefix = ""
        self._row: list[list[str]] | None = None
        self._pre = False
        self._heading = 0  # the level of the open heading
        self._heading_start = -1
        self._heading_words: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add(self, data: str) -> None:
        """Words, as they stand between two tags."""
        if self._row:
            self._row[-1].append(data)
        elif self._pre:
            self._write_as_is(data)
        else:
            self._write(data)

    def finish(self) -> None:
        """Writes what is still open."""
        self.close_heading()
        self.close_row()

    # ── blocks and lines ──

    def block(self) -> None:
        """A block begins or ends: a blank line, or in a cell a space."""
        if self._row:
            self._row[-1].append(" ")
            return
        self._leave_heading()
        self._break(2)

    def line(self, prefix: str = "") -> None:
        """A line begins or ends; `prefix` stands before its first words."""
        if self._row:
            self._row[-1].append(" ")
            return
        self._leave_heading()
        self._break(1)
        self._prefix = "" if self._heading else prefix  # a mark is no word of a heading

    def newline(self) -> None:
        """The end of a line as the author wants it: two of them part paragraphs, more do no more."""
        if self._row:
            self._row[-1].append(" ")
        elif self._heading:
            self._space = True
        elif self._pre:
            self._write_as_is("\n")
        else:
            self._breaks = min(self._breaks + 1, 2) if self._parts else 0

    def open_pre(self) -> None:
        self._leave_row()
        self._leave_heading()
        self._break(2)
        self._pre = True

    def close_pre(self) -> None:
        if self._pre and self._parts:
            last = self._parts[-1]
            self._parts[-1] = last.rstrip("\n")
            self._length -= len(last) - len(self._parts[-1])
        self._pre = False
        self._break(2)

    # ── headings ──

    def open_heading(self, level: int) -> None:
        self.close_heading()
        self._leave_row()
        self._break(2)
        self._prefix = ""
        self._pre = False
        self._heading, self._heading_start, self._heading_words = level, -1, []

    def close_heading(self) -> None:
        if not self._heading:
            return
        title = " ".join("".join(self._heading_words).split())
        if title:
            self.headings.append(Heading(self._heading, title, self._heading_start))
        self._heading = 0
        self._break(2)

    def _leave_heading(self) -> None:
        """A heading is one line: a block after its words ends it, one before them belongs to it."""
        if self._heading and self._heading_words:
            self.close_heading()

    # ── tables ──

    def open_table(self) -> None:
        """A table inside a cell shows that the outer one is for layout: its cells become blocks."""
        self._leave_row()
        self._leave_heading()
        self._break(2)

    def close_table(self) -> None:
        self.close_row()
        self._break(2)

    def open_row(self) -> None:
        self.close_row()
        self._leave_heading()
        self._break(1)
        self._row = []

    def cell(self) -> None:
        if self._row is None:
            self._leave_heading()
            self._break(2)
        else:
            self._row.append([])

    def close_row(self) -> None:
        self._write_row()
        self._break(1)

    def _leave_row(self) -> None:
        """Ends the row for something that no cell of data holds: what follows in it is running text."""
        if self._row and not "".join(self._row[-1]).strip():
            self._row.pop()
        self._write_row()

    def _write_row(self) -> None:
        row, self._row = self._row, None
        cells = [" ".join("".join(cell).split()) for cell in row or ()]
        if any(cells):
            self._write(" | ".join(cells).strip())

    # ── writing ──

    def _break(self, lines: int) -> None:
        self._breaks = max(self._breaks, lines) if self._parts else 0
        self._space = False

    def _write(self, data: str) -> None:
        words = _SPACE.sub(" ", data)
        inner = words.strip(" ")
        if not inner:
            self._space = self._space or bool(words)
            return
        space = (self._space or words[0] == " ") and not self._breaks and bool(self._parts)
        self._put((" " if space and not self._prefix else ""), inner)
        self._space = words[-1] == " "

    def _write_as_is(self, data: str) -> None:
        if self._breaks or not self._parts:  # the line end right after <pre> is no part of it
            data = data.removeprefix("\n")
        if data:
            self._put("", data)

    def _put(self, before: str, words: str) -> None:
        before = "\n" * self._breaks + before + self._prefix
        self._breaks, self._prefix = 0, ""
        self._length += len(before)
        if self._heading and self._heading_start < 0:
            self._heading_start = self._length
        if self._heading:
            self._heading_words += (before, words)
        self._parts += (before, words)
        self._length += len(words)
