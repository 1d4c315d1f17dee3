"""Tokens of a model from the Hugging Face family: where they stand in a text, and the rows that the model reads.

Holds its own copy of the fast tokenizer and only reads from it, so that threads can share it; the library's own calls
set truncation and padding on the shared object each time. Text that looks like a special token (`[SEP]`, `</s>`) is
read as the text it is: a document cannot close its own half of a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgbraid.errors import ModelError
from pgbraid.values import Overflow


@dataclass(frozen=True, slots=True)
class Row:
    """What a model reads for a text or pair: ids, their segments, which are special; `cut` when text was left out."""

    ids: list[int]
    segments: list[int]
    special: list[int]
    cut: bool

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a text as a model reads them: how many tokens both and the special ones have, and the rows.

    No row when they are too many and were not to be cut; several when the text is read in windows.
    """

    tokens: int
    rows: tuple[Row, ...]


class ModelTokens:
    """The tokenizer of a model. `tokenizer` is what transformers loaded; it is not changed."""

    def __init__(self, tokenizer: Any, what: str, lowercase: bool = False) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise ModelError(
                f"{what} has no fast tokenizer (tokenizer.json), which is needed to know where tokens stand."
            )
        theirs = tokenizer.backend_tokenizer
        self._own: Any = type(theirs).from_str(theirs.to_str())
        self._own.no_truncation()
        self._own.no_padding()
        self._own.encode_special_tokens = True
        self._lower = _lowered if lowercase else _as_it_is
        self.pad_id = int(tokenizer.pad_token_id or 0)
        self.uses_segments = "token_type_ids" in tokenizer.model_input_names
        self.special_in_one = int(self._own.num_special_tokens_to_add(False))
        self.special_in_pair = int(self._own.num_special_tokens_to_add(True))

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Character spans of the tokens, in order, not overlapping.

        White space that a token carries is left out of it, and of several tokens on one character only one is told.
        """
        found: list[tuple[int, int]] = []
        end = 0
        for first, last in self._encoded([text])[0].offsets:
            start = max(first, end)
            while start < last and text[start].isspace():
                start += 1
            if start < last:
                found.append((start, last))
                end = last
        return found

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Where each token that the model reads stands in a text, in characters: as many as `count` says."""
        return list(self._encoded([text])[0].offsets)

    def count(self, text: str) -> int:
        """How many tokens the model reads for a text, without the special ones."""
        return len(self._encoded([text])[0].ids)

    def rows(self, texts: Sequence[str], longest: int) -> list[Row]:
        """One row a text, cut to `longest` tokens with the special ones."""
        return [self._row(encoding, None, longest - self.special_in_one) for encoding in self._encoded(texts)]

    def pairs(self, question: str, texts: Sequence[str], longest: int, overflow: Overflow) -> list[Pair]:
        """One pair for each text, by the model's own template; the question is read once.

        A pair of more than `longest` tokens has no row (`reject`), one whose text was cut (`truncate`), or rows for
        windows of the text that share a quarter with their neighbours and cover it (`window`).
        """
        first = self._encoded([question])[0]
        taken = self.special_in_pair + len(first.ids)
        return [self._pair(first, text, longest - taken, overflow) for text in self._encoded(texts)]

    def _pair(self, question: Any, text: Any, room: int, overflow: Overflow) -> Pair:
        tokens = self.special_in_pair + len(question.ids) + len(text.ids)
        if len(text.ids) <= room or overflow == "truncate":
            return Pair(tokens, (self._row(text, question, room),))
        if overflow == "reject":
            return Pair(tokens, ())
        text.truncate(room, stride=room // 4)
        return Pair(tokens, tuple(self._row(one, question, room) for one in (text, *text.overflowing)))

    def _encoded(self, texts: Sequence[str]) -> list[Any]:
        lowered = [self._lower(text) for text in texts]
        return list(self._own.encode_batch(lowered, add_special_tokens=False))

    def _row(self, text: Any, question: Any, room: int) -> Row:
        cut = len(text.ids) > room
        if cut:
            text.truncate(room)
        whole = self._own.post_process(text) if question is None else self._own.post_process(question, text)
        return Row(whole.ids, whole.type_ids, whole.special_tokens_mask, cut)


def _as_it_is(text: str) -> str:
    return text


def _lowered(text: str) -> str:
    """Lower case, character by character where the whole would change its length and so the places of tokens."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)
