"""Routes as vectors: their examples are embedded, once each, and what stands for each route is stored.

Models work while no connection waits; writing joins the transaction of `declare`. How many vectors become few is said
by `pgbraid.selectors`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgbraid._async.link import Database, Link
from pgbraid.compute import in_executor
from pgbraid.db.statements import statement
from pgbraid.db.vectors import as_text
from pgbraid.errors import CatalogError, ModelError
from pgbraid.models import Models, calling
from pgbraid.selectors import Selector, by_route, text_hash
from pgbraid.values import EmbedderRecord, Vectors

KNOWN = statement("learn/known")
VECTORS = statement("learn/vectors")
ADD_VECTORS = statement("learn/add_vectors")
REMOVE_UNUSED = statement("learn/remove_unused")
CLEAR_PROTOTYPES = statement("learn/clear_prototypes")
ADD_PROTOTYPES = statement("learn/add_prototypes")
BATCH = 256


@dataclass(frozen=True, slots=True)
class Learned:
    """Vectors of texts that the database does not have yet, shaped (d,), by hash."""

    embedder: str = ""
    vectors: Mapping[bytes, Vectors] | None = None


def semantic(chain: Sequence[Selector]) -> Selector | None:
    """The selector of a chain that compares vectors, if it has one."""
    return next((s for s in chain if s.kind == "semantic"), None)


async def embed_missing(database: Database, models: Models, record: EmbedderRecord, texts: Sequence[str]) -> Learned:
    """The vectors of texts that this embedder has not embedded before. Raises ModelError."""
    distinct = {text_hash(text): text for text in texts}
    async with database.link() as link:
        rows = await link.rows(KNOWN, embedder=record.name, hashes=list(distinct))
    missing = [key for key in distinct if key not in {bytes(row["hash"]) for row in rows}]
    made: dict[bytes, Vectors] = {}
    for start in range(0, len(missing), BATCH):
        keys = missing[start : start + BATCH]
        vectors = await in_executor(embedded, models, record, [distinct[key] for key in keys])
        made |= dict(zip(keys, vectors, strict=True))
    return Learned(record.name, made)


def embedded(models: Models, record: EmbedderRecord, texts: Sequence[str]) -> Vectors:
    """The vectors of texts as of questions, (n, d). Raises ModelError for what cannot be compared with."""
    embedder = models.embedder(record)
    with calling(f"embedder {record.name!r}"):
        vectors = np.asarray(embedder.embed_queries(texts), dtype=np.float32)
    usable = vectors.shape == (len(texts), record.dimensions) and bool(np.isfinite(vectors).all())
    if not usable:
        raise ModelError(
            f"Embedder {record.name!r} gave no usable vectors for questions (shape {vectors.shape}, expected "
            f"({len(texts)}, {record.dimensions}) and finite)."
        )
    for text, vector in zip(texts, vectors, strict=True):
        if not vector.any():
            raise ModelError(f"Embedder {record.name!r} knows no word of this question: {text!r:.100}. Reword it.")
    return vectors


async def write(link: Link, selector: Selector | None, texts: Mapping[str, Sequence[str]], learned: Learned) -> None:
    """Store what was learned and, for each route with texts, what stands for it; forget what no route uses any more."""
    await link.rows(CLEAR_PROTOTYPES)
    if selector is None:
        await link.rows(REMOVE_UNUSED, embedder=None, hashes=[])
        return
    hashes = [text_hash(text) for own in texts.values() for text in own]
    made, schema = learned.vectors or {}, link.facts.vector_schema
    await link.rows(
        ADD_VECTORS.fill(ext=schema),
        embedder=selector.embedder,
        hashes=list(made),
        vectors=[as_text(vector) for vector in made.values()],
    )
    await link.rows(REMOVE_UNUSED, embedder=selector.embedder, hashes=hashes)
    vectors = await _stored(link, selector, hashes)
    for route, few in by_route(texts, vectors, selector.prototypes).items():
        await link.rows(
            ADD_PROTOTYPES.fill(ext=schema),
            route=route,
            embedder=selector.embedder,
            vectors=[as_text(vector) for vector in few],
        )


async def _stored(link: Link, selector: Selector, hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
    rows = await link.rows(VECTORS, embedder=selector.embedder, hashes=list(hashes))
    vectors = {bytes(row["hash"]): np.asarray(row["embedding"], dtype=np.float32) for row in rows}
    if any(key not in vectors for key in hashes):
        raise CatalogError("The routes of this database were changed by others just now. Apply the file again.")
    return vectors
