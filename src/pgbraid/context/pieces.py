"""Stretches of documents, widened to whole sentences, joined where they touch, known by their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pgbraid.split.boundaries import Rank, cuts
from pgbraid.split.tokens import WordTokenizer
from pgbraid.values import Passage, SearchResult

Span = tuple[int, int]

_REACH = 300  # characters that are looked through for the sentence's edge
_SHINGLE = 5  # words in a row
_WORDS = WordTokenizer()


@dataclass(frozen=True, slots=True)
class Source:
    """A stretch of a document that the model reads, and the mark that cites it: `document.text[start:end] == text`."""

    mark: int
    collection: str
    external_id: str
    title: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a model reads of a search's result.

    `text` holds every source between lines that begin with `fence`; `tokens` is what it costs with the words around it,
    0 for none. `duplicates` stretches said what others had said, `left_out` found no room, `shortened` were cut.
    """

    result: SearchResult
    text: str
    sources: tuple[Source, ...]
    fence: str
    tokens: int
    duplicates: int = 0
    left_out: int = 0
    shortened: int = 0

    @property
    def question(self) -> str:
        """The question that was asked."""
        return self.result.question


def stretches(passage: Passage, whole: bool) -> list[Span]:
    """The parts of a passage that are worth reading, best first; all of it where no chunk is told."""
    text = passage.text
    if whole or not passage.chunks:
        return [(0, len(text))] if text.strip() else []
    return [sentences_around(text, chunk.start, chunk.end) for chunk in passage.chunks if chunk.text.strip()]


def sentences_around(text: str, start: int, end: int) -> Span:
    """The stretch with the beginning of its first sentence and the end of its last, where they are near."""
    low, high = max(0, start - _REACH), min(len(text), end + _REACH)
    begin = [low] if low == 0 else []
    begin += [low + place for place in cuts(text[low : start + 1], Rank.SENTENCE)]
    finish = [end + place - 1 for place in cuts(text[end - 1 : high], Rank.SENTENCE)] if end else []
    finish += [high] if high == len(text) else []
    start = max(begin, default=start)
    end = min((place for place in finish if place >= end), default=end)
    return start, start + len(text[start:end].rstrip())


def joined(text: str, spans: Iterable[Span]) -> list[Span]:
    """The same stretches in the document's order; those that overlap or have only white space between are one."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and (start <= result[-1][1] or not text[result[-1][1] : start].strip()):
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return result


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every few words in a row, by which a repeated text is known; case, white space and marks do not matter."""
    words = [text[start:end].casefold() for start, end in _WORDS.spans(text)]
    words = [word for word in words if word[0].isalnum()]
    last = max(1, len(words) - _SHINGLE + 1)
    return frozenset(tuple(words[i : i + _SHINGLE]) for i in range(last) if words)


def share_known(of: frozenset[tuple[str, ...]], known: Sequence[frozenset[tuple[str, ...]]]) -> float:
    """The largest share of these words that one of the others says too; 1 for a text without words."""
    if not of:
        return 1.0
    return max((len(of & other) / len(of) for other in known), default=0.0)
