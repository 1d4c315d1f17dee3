"""How fast rerankers are on this machine: pairs of some lengths are scored in turns, and medians told.

Nothing is cached. The advice that follows from it is arithmetic: how many candidates fit a time, what time some need.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgbraid.errors import SettingsError
from pgbraid.rerank.cache import ScoreCache
from pgbraid.rerank.loading import load
from pgbraid.rerank.scoring import Wanted, score
from pgbraid.rerank.spec import read_spec
from pgbraid.values import Reranker

QUESTION = "how many days of annual leave may be carried over to the next year"
RESERVE = 0.8  # of the time that is promised: other work on the machine takes its share
_TEXT = (
    "the employee may ask manager for leave travel contract notice office days approval cost system database "
    "restore backup engineer call answer minutes policy year month rate work time holiday request form sign legal"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One reranker on texts of one length. `tokens` are those of a pair; for what does not tell them, the text's words.

    `milliseconds` is the median of scoring `pairs` pairs at once, `one` that of a single pair; `drift` as the
    reranker tells it, None where it has no precision.
    """

    reranker: str
    precision: str
    drift: float | None
    tokens: int
    pairs: int
    milliseconds: float
    one: float

    @property
    def pairs_per_second(self) -> float:
        """Throughput."""
        return self.pairs / self.milliseconds * 1000

    @property
    def tokens_per_second(self) -> float:
        """Throughput in tokens of the pairs, question included."""
        return self.pairs_per_second * self.tokens


@dataclass(frozen=True, slots=True)
class Advice:
    """How many texts of a length fit a time, and the `rerank_budget_ms` that as many as were measured need."""

    reranker: str
    tokens: int
    rerank_top_k: int
    rerank_budget_ms: int


def expanded(specs: Sequence[str], precisions: Sequence[str], every_exit: bool) -> list[str]:
    """The specs with each precision, and `exits:` with each trained exit where the spec names none."""
    found: list[str] = []
    for text in specs:
        for one in _with_exits(text) if every_exit and text.startswith("exits:") else [text]:
            found += [_with_option(one, "precision", precision) for precision in precisions] or [one]
    return found


def measure(specs: Sequence[str], lengths: Sequence[int], pairs: int, rounds: int) -> list[Measured]:
    """Score `pairs` texts of each length with each reranker, `rounds` times, in turns.

    A length above what a reranker reads is left out for it. Raises what `load` raises, and SettingsError when no
    reranker reads any of the lengths.
    """
    rerankers = {spec: load(spec) for spec in specs}
    work = {
        (spec, length): _texts(reranker, length, pairs)
        for spec, reranker in rerankers.items()
        for length in lengths
        if length <= getattr(reranker, "longest", length)
    }
    if not work:
        raise SettingsError(f"No reranker reads as many as {min(lengths)} tokens: give smaller lengths.")
    spent: dict[tuple[str, int], list[tuple[float, float]]] = {key: [] for key in work}
    for _ in range(rounds + 1):  # the first is for warming up
        for (spec, length), texts in work.items():
            several, one = _seconds(rerankers[spec], texts), _seconds(rerankers[spec], texts[:1])
            spent[spec, length].append((several, one))
    return [_measured(spec, rerankers[spec], work[spec, length], times[1:]) for (spec, length), times in spent.items()]


def advise(measured: Sequence[Measured], budget_ms: int) -> list[Advice]:
    """For each measurement, what fits `budget_ms` and what its pairs need; a fifth is kept in reserve."""
    return [
        Advice(
            reranker=one.reranker,
            tokens=one.tokens,
            rerank_top_k=min(1000, int(budget_ms * RESERVE * one.pairs_per_second / 1000)),
            rerank_budget_ms=int(one.milliseconds / RESERVE) + 1,
        )
        for one in measured
    ]


def _with_exits(text: str) -> list[str]:
    from pgbraid.embed.files import locate
    from pgbraid.embed.weights import read_config, require_models

    spec = read_spec(text)
    if "layer" in spec.options or "dimensions" in spec.options:
        return [text]
    require_models(f"The reranker {text}")
    from pgbraid.rerank.exits import trained_exits

    folder = locate(spec.model)
    every = trained_exits(folder, read_config(folder))
    return [_with_option(_with_option(text, "layer", e.layer), "dimensions", e.dimensions) for e in every]


def _with_option(text: str, key: str, value: object) -> str:
    if key in read_spec(text).options:
        return text
    return f"{text}{',' if '#' in text else '#'}{key}={value}"


def _texts(reranker: Reranker, length: int, count: int) -> list[str]:
    """Different texts that make pairs of `length` tokens with the question, or a little less; the same at each run."""
    chance = random.Random(length)  # noqa: S311 - no secret
    known = _TEXT.split()
    room = length - (_pair_tokens(reranker, "") or 0)
    texts: list[str] = []
    for _ in range(count):
        words = [chance.choice(known) for _ in range(max(room, 1))]
        while len(words) > 1 and (_pair_tokens(reranker, " ".join(words)) or 0) > length:
            words.pop()
        texts.append(" ".join(words))
    return texts


def _pair_tokens(reranker: Any, text: str) -> int | None:
    """The tokens of a pair, None for a reranker that does not tell."""
    if not hasattr(reranker, "pairs"):
        return None
    return int(reranker.pairs(QUESTION, [text], "truncate")[0].tokens)


def _seconds(reranker: Reranker, texts: Sequence[str]) -> float:
    start = time.perf_counter()
    found = score(reranker, QUESTION, [[text] for text in texts], Wanted(strict=True), ScoreCache(0))
    spent = time.perf_counter() - start
    if None in found.scores:
        raise SettingsError(f"The reranker {reranker.identity!r} left texts without a score: it cannot be measured.")
    return spent


def _measured(spec: str, reranker: Reranker, texts: Sequence[str], times: Sequence[tuple[float, float]]) -> Measured:
    tokens = [_pair_tokens(reranker, text) or len(text.split()) for text in texts]
    return Measured(
        reranker=spec,
        precision=getattr(reranker, "precision", ""),
        drift=getattr(reranker, "drift", None),
        tokens=round(statistics.mean(tokens)),
        pairs=len(texts),
        milliseconds=statistics.median(several for several, _ in times) * 1000,
        one=statistics.median(one for _, one in times) * 1000,
    )
