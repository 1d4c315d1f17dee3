"""Scores of candidates: each distinct text once, none that is known from before, and no longer than there is time.

A candidate has one text or several; a text is one row of a model or several windows. A text that cannot be scored
fails alone: its candidate keeps its place behind those that were. This module knows no database and no torch.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgbraid.errors import SearchError, TextRefused
from pgbraid.rerank.cache import Key, Known, ScoreCache, key_of
from pgbraid.rerank.ordering import as_scores
from pgbraid.rerank.reading import Limit, cut
from pgbraid.values import Overflow, Reranker

GROUP = 8  # texts that are prepared at once when time is short: the best first


@dataclass(frozen=True, slots=True)
class Wanted:
    """How candidates are scored. `deadline` is a time of `time.monotonic`, None for no limit."""

    overflow: Overflow = "reject"
    top_m: int = 1
    strict: bool = False
    deadline: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Scored:
    """A score a candidate, None for those that have none, and what there is to say about it.

    `texts` has the score of each text; `fresh` those that were not known
    before, by the pair's key. `refused` says why a text has none; `late` counts texts that time did not allow.
    `over` has the size of each text that was too long and was cut or read in windows, in what `unit` names.
    """

    scores: tuple[float | None, ...]
    texts: dict[str, float]
    refused: dict[str, str]
    fresh: Mapping[Key, Known]
    cached: int
    late: int
    over: dict[str, int] = field(default_factory=dict)
    unit: str = "tokens with the question"

    @property
    def computed(self) -> int:
        """How many texts were read."""
        return len(self.fresh)


class _Time:
    """How much is left, in tokens at the rate seen so far."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._spent = 0.0
        self._tokens = 0

    def allows(self, tokens: int) -> bool:
        if self._wanted.stop.is_set():
            return False
        if self._wanted.deadline is None:
            return True
        left = self._wanted.deadline - time.monotonic()
        return left > (self._spent / self._tokens * tokens if self._tokens else 0.0)

    def took(self, tokens: int, seconds: float) -> None:
        self._tokens += max(tokens, 1)
        self._spent += seconds


def score(
    reranker: Reranker, question: str, candidates: Sequence[Sequence[str]], wanted: Wanted, cache: ScoreCache
) -> Scored:
    """Score candidates, best first, each given by its texts.

    A candidate's score is the mean of its best `top_m` scores. Raises ModelError for a reranker that gives something
    else than finite numbers, and SearchError for a text that is too long when `strict`.
    """
    keys = pair_keys(reranker, question, candidates, wanted)
    remembered = zip(keys, cache.get(list(keys.values())), strict=True)
    found = {text: known for text, known in remembered if known is not None}
    missing = [text for text in keys if text not in found]
    refused: dict[str, str] = {}
    clock = _Time(wanted)
    read = _rows_read if hasattr(reranker, "pairs") else _texts_read
    fresh: dict[str, Known] = {}
    for group in _groups(missing, wanted):
        if not clock.allows(0):
            break
        fresh |= read(reranker, question, group, wanted, clock, refused)
    cache.keep(new := [(keys[text], known) for text, known in fresh.items()])
    found |= fresh
    if wanted.strict and refused:
        raise SearchError(
            f"{len(refused)} texts cannot be reranked, among them one where {next(iter(refused.values()))}"
        )
    return Scored(
        scores=tuple(_of_candidate(texts, found, wanted.top_m) for texts in candidates),
        texts={text: max(known.scores) for text, known in found.items()},
        refused=refused,
        fresh=dict(new),
        cached=len(keys) - len(missing),
        late=len(missing) - len(fresh) - len(refused),
        over={text: known.over for text, known in found.items() if known.over},
        unit=limit.unit if (limit := _limit(reranker)) else "tokens with the question",
    )


def pair_keys(reranker: Reranker, question: str, candidates: Sequence[Sequence[str]], wanted: Wanted) -> dict[str, Key]:
    """Each distinct text, in order, and the key under which its score is kept."""
    distinct = dict.fromkeys(text for texts in candidates for text in texts)
    return {text: key_of(reranker.identity, wanted.overflow, question, text) for text in distinct}


def _groups(texts: Sequence[str], wanted: Wanted) -> Iterator[Sequence[str]]:
    """All at once, so that rows of like length can meet; or the best first where time is short."""
    size = GROUP if wanted.deadline is not None else max(len(texts), 1)
    return (texts[at : at + size] for at in range(0, len(texts), size))


def _of_candidate(texts: Sequence[str], found: dict[str, Known], top_m: int) -> float | None:
    every = [value for text in dict.fromkeys(texts) if text in found for value in found[text].scores]
    values = sorted(every, reverse=True)[:top_m]
    return math.fsum(values) / len(values) if values else None


def _rows_read(
    model: Any, question: str, texts: Sequence[str], wanted: Wanted, clock: _Time, refused: dict[str, str]
) -> dict[str, Known]:
    """Scores from a model that tells its rows: batches of like length, as many as time allows."""
    pairs = model.pairs(question, texts, wanted.overflow)
    for text, pair in zip(texts, pairs, strict=True):
        if not pair.rows:
            refused[text] = f"question and text have {pair.tokens} tokens, the model reads {model.longest}"
    rows = [(text, row) for text, pair in zip(texts, pairs, strict=True) for row in pair.rows]
    values: dict[str, list[float]] = {}
    for batch in model.batches([len(row) for _, row in rows]):
        tokens = sum(len(rows[i][1]) for i in batch)
        if not clock.allows(tokens):
            break
        start = time.monotonic()
        logits = model.logits([rows[i][1] for i in batch])
        clock.took(tokens, time.monotonic() - start)
        for index, logit in zip(batch, logits, strict=True):
            values.setdefault(rows[index][0], []).append(logit)
    read = {
        text: Known(tuple(values[text]), pair.tokens if pair.tokens > model.longest else 0)
        for text, pair in zip(texts, pairs, strict=True)
        if text in values and len(values[text]) == len(pair.rows)
    }
    return _finite(read, refused)


def _texts_read(
    reranker: Reranker, question: str, texts: Sequence[str], wanted: Wanted, clock: _Time, refused: dict[str, str]
) -> dict[str, Known]:
    """Scores from a reranker that is handed texts: whole, or in pieces where its limit says so."""
    limit = _limit(reranker)
    cuts = {text: cut(text, limit, wanted.overflow) for text in texts}
    pieces = list(dict.fromkeys(piece for one in cuts.values() for piece in one.pieces))
    start = time.monotonic()
    found = _taken(reranker, question, pieces)
    clock.took(len(pieces), time.monotonic() - start)
    read: dict[str, Known] = {}
    for text, one in cuts.items():
        scores = [found[piece] for piece in one.pieces]
        reasons = [score for score in scores if isinstance(score, str)]
        if limit and not scores:
            reasons = [f"a text has {one.size} {limit.unit}, the reranker reads {limit.longest}"]
        if reasons:
            refused[text] = reasons[0]
        else:
            over = one.size if limit and one.size > limit.longest else 0
            read[text] = Known(tuple(score for score in scores if not isinstance(score, str)), over)
    return _finite(read, refused)


def _taken(reranker: Reranker, question: str, pieces: Sequence[str]) -> dict[str, float | str]:
    """The score of each piece, or why the reranker refuses it alone: which one it is, is found by halves."""
    if not pieces:
        return {}
    try:
        given = reranker.score(question, pieces)
    except TextRefused as error:
        if len(pieces) == 1:
            return {pieces[0]: str(error)}
        half = len(pieces) // 2
        return _taken(reranker, question, pieces[:half]) | _taken(reranker, question, pieces[half:])
    return dict(zip(pieces, as_scores(given, len(pieces), f"The reranker {reranker.identity!r}"), strict=True))


def _limit(reranker: Reranker) -> Limit | None:
    return getattr(reranker, "limit", None)


def _finite(read: dict[str, Known], refused: dict[str, str]) -> dict[str, Known]:
    """What can be ordered; a text with a score that cannot is refused."""
    for text, known in read.items():
        if not all(map(math.isfinite, known.scores)):
            refused[text] = f"the score is {next(one for one in known.scores if not math.isfinite(one))}"
    return {text: known for text, known in read.items() if text not in refused}
