"""A reranker made of a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgbraid.errors import ModelError, PgbraidError
from pgbraid.rerank.ordering import as_scores, check_blend
from pgbraid.values import Reranker

Function = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class FunctionReranker:
    """Scores that a function gives."""

    function: Function
    identity: str
    blend: float

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


def from_callable(function: Function, name: str, blend: float = 1.0) -> Reranker:
    """A reranker that asks `function(question, texts)` for one score a text, higher is better.

    Its identity is `callable:name`: give a new name whenever the function scores otherwise, since results are kept
    under it. Raises SettingsError for a blend outside 0 to 1.
    """
    check_blend(blend)
    return FunctionReranker(function, f"callable:{name}", blend)
