"""Which chunks can still be among the best of a lexical branch: a ladder of tsqueries, each with the score that it is
good for.

A word adds at most its weight times (k1 + 1) to a chunk's score, whatever the chunk (BM25's saturation; Robertson and
Zaragoza 2009). So a chunk can only reach a score if the most that its words can add reaches it. That condition is
monotone, hence a tsquery of `&` and `|` can say it, and GIN intersects the posting lists. The statement
`retrieve/lexical_pruned` begins on a rung where enough chunks are expected, sees what score the last candidate has, and
asks again on the highest rung that is good for this score, unless it began on that one or below it. The first rung is
every word joined by `|`, which is good for any score; so a wrong expectation costs time and never a chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_WORDS = 8  # said in a rung; the strongest. What the others can add is taken for granted
RUNGS = tuple(n / 20 for n in range(2, 18))  # as shares of the most that a chunk could reach
EXPECTED = 300  # chunks on the rung that a search begins on
PRUNE_FROM = 2_000  # postings: below it every match is scored faster than two searches are made
SLACK = 1e-4  # scores are sums of single precision numbers; a rung is good for a little more than its floor


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rungs in rising order: `queries[i]` finds every chunk that scores `floors[i]` or more. `start` counts from 1."""

    floors: tuple[float, ...]
    queries: tuple[str, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The chunks of one collection: all of them, and those that hold each word of the question."""

    chunks: int
    holding: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Strong:
    """A word that rungs say: as a lexeme of a tsquery, the most that it adds, and the share of chunks that hold it."""

    lexeme: str
    most: float
    share: float


def ladder(weights: Mapping[str, float], lexemes: Mapping[str, str], k1: float, counts: Counts) -> Ladder | None:
    """The ladder of a question in one collection; None where scoring every match is as fast.

    `weights` has idf times occurrences by word and `lexemes` how a tsquery writes the word.
    """
    if len(weights) < 2 or sum(counts.holding.get(word, 0) for word in weights) < PRUNE_FROM:
        return None
    ordered = sorted(weights, key=lambda word: (-weights[word], word))
    strong = [
        _Strong(lexemes[w], weights[w] * (k1 + 1), min(1.0, counts.holding.get(w, 0) / max(1, counts.chunks)))
        for w in ordered[:MOST_WORDS]
    ]
    others = sum(weights[word] for word in ordered[MOST_WORDS:]) * (k1 + 1)
    total = others + sum(word.most for word in strong)
    floors, queries, start = [0.0], [" | ".join(lexemes[word] for word in ordered)], 1
    for share in RUNGS:
        need = share * total * (1 - SLACK) - others
        query = None if need <= 0 else reaching(strong, need)
        if not query or query == queries[-1]:
            continue
        floors.append(share * total)
        queries.append(query)
        if chance(strong, need) * counts.chunks >= EXPECTED:
            start = len(queries)
    return Ladder(tuple(floors), tuple(queries), start) if start > 1 else None


def reaching(words: Sequence[_Strong], need: float) -> str | None:
    """A tsquery for those sets of words whose most adds up to `need`; "" when all do, None when none does."""
    if need <= 0:
        return ""
    if sum(word.most for word in words) < need:
        return None
    first, rest = words[0], words[1:]
    along, without = reaching(rest, need - first.most), reaching(rest, need)
    held = f"{first.lexeme} & ( {along} )" if along else first.lexeme
    return held if without is None else f"{held} | {without}"


def chance(words: Sequence[_Strong], need: float) -> float:
    """The share of chunks whose words reach `need`, were words independent of each other."""
    if need <= 0:
        return 1.0
    if sum(word.most for word in words) < need:
        return 0.0
    first, rest = words[0], words[1:]
    return first.share * chance(rest, need - first.most) + (1 - first.share) * chance(rest, need)
