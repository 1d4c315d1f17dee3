"""The tokenizer for embedders that have none of their own: words, CJK characters and punctuation marks.

It knows no vocabulary, so its counts are below those of a trained tokenizer; whoever embeds through it leaves room.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

# Kana, bopomofo, ideographs and their extensions. Hangul is written with spaces and counts as words.
CJK = "\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PLAIN = re.compile(r"\w+|\S")  # what the whole pattern comes to where there is nothing but ASCII, twice as fast
_LAST_MARK = 0x1F000  # no combining mark above, but variation selectors, which follow symbols


class WordTokenizer:
    """Words (letters, digits, combining marks), single CJK characters, single other marks; white space is none."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Character spans of the tokens, in order, not overlapping."""
        pattern = _PLAIN if text.isascii() else _pattern()
        return [match.span() for match in pattern.finditer(text)]


@cache
def _pattern() -> re.Pattern[str]:
    marks = "".join(_mark_ranges())
    return re.compile(rf"[{CJK}][{marks}]*|(?:(?![{CJK}])[\w{marks}])+|\S")


def _mark_ranges() -> Iterator[str]:
    """The combining marks as ranges of a character class: `\\w` lacks the vowel signs of Indic scripts."""
    first: int | None = None
    for code in range(0x300, _LAST_MARK):
        is_mark = unicodedata.category(chr(code)).startswith("M")
        if is_mark and first is None:
            first = code
        elif not is_mark and first is not None:
            yield f"{chr(first)}-{chr(code - 1)}"
            first = None
