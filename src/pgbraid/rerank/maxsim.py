"""Late interaction with an embedder's token vectors: a reranker that needs no weights of its own.

    score = mean over the question's tokens of the highest cosine with any token of the text

It knows wording better than meaning, so by default half of the order stays with the fused score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from pgbraid.embed.tokens import ModelTokens
from pgbraid.errors import ModelError
from pgbraid.rerank.ordering import check_scores
from pgbraid.rerank.reading import Limit
from pgbraid.values import Embedder, Reranker

BLEND = 0.5
NOTHING_ALIKE = -1.0  # the lowest cosine: of a text in which the model sees no token


class TokenEmbedder(Protocol):
    """An embedder that can tell the vector of each token, of length 1."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def max_tokens(self) -> int: ...

    @property
    def tokenizer(self) -> ModelTokens: ...

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]: ...


@dataclass(frozen=True, slots=True)
class MaxSim:
    """Scores from -1 to 1 by the token vectors of `embedder`."""

    embedder: TokenEmbedder
    identity: str
    blend: float = BLEND

    @property
    def limit(self) -> Limit:
        """As many tokens of a text as the embedder reads of a document."""
        return Limit(self.embedder.max_tokens, "tokens", self.embedder.tokenizer.offsets)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in their order; equal texts are read once. Raises ModelError."""
        if not texts:
            return []
        distinct = list(dict.fromkeys(texts))
        asked, *found = self.embedder.token_vectors([question, *distinct])
        scores = dict(zip(distinct, (_best_match(asked, one) for one in found), strict=True))
        return check_scores([scores[text] for text in texts], len(texts), f"The reranker {self.identity!r}")


def maxsim(embedder: Embedder) -> Reranker:
    """A reranker from an embedder of the kind `transformers`. Raises ModelError for one without token vectors."""
    if not hasattr(embedder, "token_vectors"):
        raise ModelError(
            f"maxsim needs the vectors of single tokens, which {type(embedder).__name__} does not give. "
            "Use an embedder of the kind 'transformers'."
        )
    return MaxSim(cast(TokenEmbedder, embedder), f"maxsim:{embedder.fingerprint}")


def _best_match(asked: NDArray[np.float32], found: NDArray[np.float32]) -> float:
    if not len(asked) or not len(found):
        return NOTHING_ALIKE
    return float((asked @ found.T).max(axis=1).mean(dtype=np.float64))
