"""An embedder without a model: words and pieces of words, hashed into a vector. For tests, demos and first steps.

Texts that share words, word stems or Chinese character pairs come out near each other; meaning it knows nothing of.
The same text gives the same vector on every machine.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from pgbraid.embed.plain import NO_LIMIT, PlainEmbedder, fingerprint
from pgbraid.split.tokens import CJK, WordTokenizer
from pgbraid.values import EmbedderRecord, Vectors

OPTIONS: frozenset[str] = frozenset()
DIMENSIONS = 256
_PIECE_WEIGHT = 0.4  # of a trigram beside its word: stems count, but not as much as the word
_RUN = re.compile(rf"(?P<cjk>[{CJK}]+)|[^\W{CJK}]+")


def build(record: EmbedderRecord) -> PlainEmbedder:
    """The hashing embedder that the record describes; its `model` is a word for people and changes nothing."""
    dimensions = record.dimensions or DIMENSIONS
    prefixes = (record.query_prefix, record.document_prefix)
    max_tokens = record.max_tokens or NO_LIMIT

    def vectors(texts: Sequence[str]) -> Vectors:
        return np.stack([vector(text, dimensions) for text in texts])

    return PlainEmbedder(
        what="The hashing embedder",
        dimensions=dimensions,
        max_tokens=max_tokens,
        fingerprint=fingerprint("hashing", version=1, dimensions=dimensions, prefixes=prefixes, max_tokens=max_tokens),
        tokenizer=WordTokenizer(),
        documents=vectors,
        queries=vectors,
        query_prefix=record.query_prefix,
        document_prefix=record.document_prefix,
    )


def vector(text: str, dimensions: int) -> Vectors:
    """The vector of one text: shape (dimensions,), length 1. Never zero, not even for punctuation alone."""
    total = np.zeros(dimensions, dtype=np.float64)
    for (feature, weight), count in Counter(_features(text)).items():
        place, sign = _hashed(feature, dimensions)
        total[place] += sign * weight * (1.0 + np.log(count))
    length = float(np.linalg.norm(total))
    if length < 1e-9:  # no words, or features that took each other away
        place, sign = _hashed(f"text {text}", dimensions)
        total[place], length = sign, 1.0
    return (total / length).astype(np.float32)


def _features(text: str) -> Iterator[tuple[str, float]]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for run in _RUN.finditer(folded):
        if run["cjk"]:
            yield from _character_pairs(run[0])
        else:
            yield from _word_and_pieces(run[0])


def _character_pairs(run: str) -> Iterator[tuple[str, float]]:
    if len(run) == 1:
        yield f"pair {run}", 1.0
    for start in range(len(run) - 1):
        yield f"pair {run[start : start + 2]}", 1.0


def _word_and_pieces(word: str) -> Iterator[tuple[str, float]]:
    yield f"word {word}", 1.0
    bounded = f"<{word}>"
    for start in range(len(bounded) - 2):
        yield f"piece {bounded[start : start + 3]}", _PIECE_WEIGHT


def _hashed(feature: str, dimensions: int) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return (number >> 1) % dimensions, 1.0 if number & 1 else -1.0
