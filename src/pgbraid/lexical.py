"""The question's half of BM25: which words of a question to look for in each collection, and what each of them weighs.

idf = ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Zaragoza 2009, with Lucene's 1 + inside), where N chunks
are in the collections asked and n of them hold the word. Collections of one analysis share N and n, so that their
scores can be compared as they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgbraid.prune import Counts, Ladder, ladder
from pgbraid.values import Collection

SPARSE_DIMENSIONS = 1_000_000_000
MAX_WORDS = 1_000


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of the question as one collection knows it."""

    collection_id: int
    word: str
    lexeme_id: int
    times: int
    chunks: int


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """What one collection's lexical branch gets: a tsquery, a sparsevec, and the weights by word for those who read.

    With a ladder only the chunks that can be among the best are fetched.
    """

    query: str
    terms: str
    weights: Mapping[str, float]
    dropped: tuple[str, ...] = ()
    ladder: Ladder | None = None


def weigh(words: Iterable[QuestionWord], asked: Sequence[Collection]) -> dict[int, LexicalQuery]:
    """A query for each collection asked that holds any of the words."""
    by_id = {c.id: c for c in asked}
    mine = [w for w in words if w.collection_id in by_id]
    totals: dict[str, int] = defaultdict(int)
    for collection in asked:
        totals[collection.text_config] += collection.chunks
    holding: dict[tuple[str, str], int] = defaultdict(int)
    for w in mine:
        holding[by_id[w.collection_id].text_config, w.word] += w.chunks
    grouped: dict[int, list[QuestionWord]] = defaultdict(list)
    for w in mine:
        grouped[w.collection_id].append(w)
    return {
        c.id: _query(
            c,
            grouped[c.id],
            totals[c.text_config],
            {w: n for (config, w), n in holding.items() if config == c.text_config},
        )
        for c in asked
        if grouped.get(c.id)
    }


def idf(chunks: int, holding: int) -> float:
    """Inverse document frequency of a word that `holding` of `chunks` chunks hold; never negative."""
    holding = max(0, min(holding, chunks))
    return math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))


def _query(
    collection: Collection, words: Sequence[QuestionWord], total: int, holding: Mapping[str, int]
) -> LexicalQuery:
    weights = {w.word: w.times * idf(total, holding[w.word]) for w in words}
    kept = sorted(weights, key=lambda word: (-weights[word], word))[:MAX_WORDS]
    dropped = tuple(sorted(weights.keys() - set(kept)))
    here: dict[str, int] = defaultdict(int)
    for w in words:
        here[w.word] += w.chunks
    terms = sorted((w.lexeme_id, weights[w.word]) for w in words if w.word in set(kept))
    return LexicalQuery(
        query=" | ".join(_lexeme(word) for word in sorted(kept)),
        terms="{" + ",".join(f"{i}:{weight!r}" for i, weight in terms) + f"}}/{SPARSE_DIMENSIONS}",
        weights={word: weights[word] for word in kept},
        dropped=dropped,
        ladder=ladder(
            {word: weights[word] for word in kept},
            {word: _lexeme(word) for word in kept},
            collection.k1,
            Counts(collection.chunks, here),
        ),
    )


def _lexeme(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
