"""The embedder around a vector function: puts the prefix before each text, and cuts what is longer than the limit.

Hashing, the numpy model, servers and functions of the user's are all this, with another vector function. How the
vectors come about is left to the function.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pgbraid.embed.vectors import as_vectors
from pgbraid.errors import EmbeddingFailed
from pgbraid.values import Tokenizer, Vectors

LOG = logging.getLogger("pgbraid.embed")
NO_LIMIT = 1_000_000  # tokens; for what has no limit of its own


@dataclass(frozen=True, slots=True)
class PlainEmbedder:
    """An embedder whose vectors come from `documents` and `queries`, functions from texts to rows of numbers.

    `max_tokens` counts the tokens of `tokenizer` in a text before its prefix is added.
    """

    what: str
    dimensions: int
    max_tokens: int
    fingerprint: str
    tokenizer: Tokenizer
    documents: Callable[[Sequence[str]], Any]
    queries: Callable[[Sequence[str]], Any]
    query_prefix: str = ""
    document_prefix: str = ""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions). Raises EmbeddingFailed."""
        return self._embed(texts, self.document_prefix, self.documents)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions). Raises EmbeddingFailed."""
        return self._embed(texts, self.query_prefix, self.queries)

    def _embed(self, texts: Sequence[str], prefix: str, function: Callable[[Sequence[str]], Any]) -> Vectors:
        ready = [prefix + text for text in cut(several(texts), self.tokenizer, self.max_tokens, self.what)]
        found = function(ready) if ready else ()
        return as_vectors(found, len(ready), self.dimensions, self.what)


def several(texts: Sequence[str]) -> Sequence[str]:
    """The texts; a single text is refused, since it would be read as a list of its characters."""
    if isinstance(texts, str):
        raise EmbeddingFailed("An embedder was given one text where it needs a list of texts: write [text].")
    return texts


def cut(texts: Sequence[str], tokenizer: Tokenizer, max_tokens: int, what: str) -> list[str]:
    """The texts, each ending with its token number `max_tokens`; how many were longer is logged as a warning."""
    shortened = [_cut_one(text, tokenizer, max_tokens) for text in texts]
    report_cut(sum(len(a) != len(b) for a, b in zip(texts, shortened, strict=True)), len(texts), max_tokens, what)
    return shortened


def _cut_one(text: str, tokenizer: Tokenizer, max_tokens: int) -> str:
    if len(text) <= max_tokens:  # a token is at least a character
        return text
    spans = tokenizer.spans(text)
    return text if len(spans) <= max_tokens else text[: spans[max_tokens - 1][1]]


def report_cut(longer: int, of: int, max_tokens: int, what: str) -> None:
    """Log once a call that texts were cut."""
    if longer:
        LOG.warning("%s cut %d of %d texts, which were longer than %d tokens", what, longer, of, max_tokens)


def fingerprint(kind: str, **parts: Any) -> str:
    """A short name for everything that decides what vector a text gets: 32 hexadecimal digits after the kind."""
    written = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{kind}:{hashlib.sha256(written.encode()).hexdigest()[:32]}"
