"""Documents made ready beside the writer: split, and their chunks embedded. No database here.

All texts of a batch are embedded at once; where that fails one by one, so that one text never costs the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgbraid import prepare
from pgbraid.clock import Clock
from pgbraid.embed import check_vectors
from pgbraid.errors import EmbeddingFailed, PgbraidError
from pgbraid.values import Collection, Embedder, Rejected

Found = tuple[dict[bytes, NDArray[np.float32]], dict[bytes, str]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Documents of one tenant that are new or changed, and the chunk hashes that are stored of each by its id."""

    tenant: str
    fresh: tuple[prepare.Draft, ...]
    unchanged: int
    stored: Mapping[int, frozenset[bytes]]


@dataclass(frozen=True, slots=True)
class Made:
    """What became of `wanted`. `broken` is there when the embedder failed for every text."""

    wanted: Wanted
    prepared: tuple[prepare.Prepared, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    embedded: int = 0
    pieces: int = 0
    broken: EmbeddingFailed | None = None


def make(
    collection: Collection, embedder: Callable[[], Embedder], wanted: Sequence[Wanted], clock: Clock
) -> list[Made]:
    """Split and embed what is wanted, tenant by tenant; the embedder is loaded when there is something to do."""
    return [_make(collection, embedder(), one, clock) if one.fresh else Made(one) for one in wanted]


def _make(collection: Collection, embedder: Embedder, wanted: Wanted, clock: Clock) -> Made:
    with clock.stage("split"):
        pieces, empty = prepare.cut(wanted.fresh, embedder.tokenizer, collection.chunking)
    with clock.stage("embed"):
        texts = prepare.texts_without_vector(pieces, wanted.stored)
        (vectors, problems), broken = _embed(collection, embedder, texts)
    prepared: list[prepare.Prepared] = []
    rejected = list(empty)
    for piece in pieces:
        wrong = next((problems[h] for h in piece.hashes if h in problems), None)
        if wrong is not None:
            rejected.append(Rejected(piece.draft.document.external_id, wrong))
            continue
        own = tuple(vectors.get(h) for h in piece.hashes)
        prepared.append(prepare.Prepared(piece.draft.document, piece.draft.hash, piece.chunks, piece.hashes, own))
    return Made(wanted, tuple(prepared), tuple(rejected), len(vectors), len(pieces), broken)


def _embed(
    collection: Collection, embedder: Embedder, texts: Mapping[bytes, str]
) -> tuple[Found, EmbeddingFailed | None]:
    """Vectors and problems by chunk hash."""
    hashes = list(texts)
    if not hashes:
        return ({}, {}), None
    try:
        return _checked(collection, hashes, _asked(embedder, [texts[h] for h in hashes])), None
    except EmbeddingFailed as error:
        if len(hashes) == 1:
            return ({}, {hashes[0]: str(error)}), error
    vectors: dict[bytes, NDArray[np.float32]] = {}
    problems: dict[bytes, str] = {}
    errors: list[EmbeddingFailed] = []
    for digest in hashes:
        try:
            found, wrong = _checked(collection, [digest], _asked(embedder, [texts[digest]]))
        except EmbeddingFailed as error:
            found, wrong = {}, {digest: str(error)}
            errors.append(error)
        vectors |= found
        problems |= wrong
    return (vectors, problems), errors[-1] if len(errors) == len(hashes) else None


def _asked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """What the embedder gives; whatever it raises becomes EmbeddingFailed, for it may be anybody's code."""
    try:
        return embedder.embed_documents(texts)
    except PgbraidError:
        raise
    except Exception as error:
        raise EmbeddingFailed(f"the embedder failed on {len(texts)} texts: {type(error).__name__}: {error}") from error


def _checked(collection: Collection, hashes: Sequence[bytes], vectors: NDArray[np.float32]) -> Found:
    wrong = check_vectors(vectors, collection.embedder.dimensions, f"embedder {collection.embedder.name!r}")
    good = {h: vectors[i] for i, h in enumerate(hashes) if i not in wrong}
    return good, {hashes[i]: reason for i, reason in wrong.items()}
