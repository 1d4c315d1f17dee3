"""Checks the marks in an answer against the sources that were given."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgbraid.context.pieces import Context, Source

_MARKS = re.compile(r"[\[【]\s*(\d{1,4}(?:\s*[,，、;]\s*\d{1,4})*)\s*[\]】]")


@dataclass(frozen=True, slots=True)
class Citations:
    """What an answer cites: the sources, in the order of their first mark, and the marks that no source has."""

    sources: tuple[Source, ...]
    unknown: tuple[int, ...]

    @property
    def sound(self) -> bool:
        """Whether something is cited, and everything that is cited was given."""
        return bool(self.sources) and not self.unknown


def check(answer: str, context: Context) -> Citations:
    """The sources that the marks of an answer stand for; [1], [1, 2] and 【1】 are read."""
    marks = dict.fromkeys(int(n) for found in _MARKS.findall(answer) for n in re.findall(r"\d+", found))
    given = {source.mark: source for source in context.sources}
    return Citations(tuple(given[m] for m in marks if m in given), tuple(m for m in marks if m not in given))
