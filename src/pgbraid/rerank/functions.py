"""A reranker made of a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgbraid.errors import ModelError, PgbraidError, SettingsError
from pgbraid.rerank.ordering import as_scores, check_blend
from pgbraid.rerank.reading import Limit
from pgbraid.values import Reranker

Function = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class FunctionReranker:
    """Scores that a function gives."""

    function: Function
    identity: str
    blend: float
    limit: Limit | None = None

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in their order. Raises ModelError when the function fails or gives no number a text."""
        what = f"The reranker {self.identity!r}"
        try:
            scores = self.function(question, texts)
        except PgbraidError:
            raise
        except Exception as error:
            raise ModelError(f"{what} failed on {len(texts)} texts: {type(error).__name__}: {error}") from error
        return as_scores(scores, len(texts), what)


def from_callable(function: Function, name: str, blend: float = 1.0, max_chars: int | None = None) -> Reranker:
    """A reranker that asks `function(question, texts)` for one score a text, higher is better.

    Its identity is `callable:name`: give a new name whenever the function scores otherwise, since results are kept
    under it. A text of more than `max_chars` characters is not handed to it whole: see `rerank_overflow`; without it
    texts of any length are. Raises SettingsError for a blend outside 0 to 1 and a `max_chars` below 1.
    """
    check_blend(blend)
    if max_chars is not None and max_chars < 1:
        raise SettingsError(f"max_chars is {max_chars}: a reranker reads at least one character")
    return FunctionReranker(function, f"callable:{name}", blend, None if max_chars is None else Limit(max_chars))
