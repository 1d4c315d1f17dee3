"""How many tokens a text costs: as the caller's tokenizer counts, or estimated without one."""

from __future__ import annotations

from collections.abc import Callable

from pgbraid.split.tokens import WordTokenizer

Count = Callable[[str], int]

_BYTES_A_TOKEN = 4  # of a word; longer words are rarer, so they are made of more pieces
_WORDS = WordTokenizer()


def estimate(text: str) -> int:
    """Tokens of a text, estimated: one a word for every four bytes begun, one a CJK character or other mark."""
    return sum(
        -(-len(text[start:end].encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN) for start, end in _WORDS.spans(text)
    )
