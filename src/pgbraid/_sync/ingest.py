# Generated from src/pgbraid/_async/ingest.py by scripts/async_to_sync.py. Change that file, not this one.

"""The way in: read → clean → what is new? → split → embed → write. A batch at a time, each in one transaction.

One bad document never loses the rest of its batch; it is in the report. Embedding happens between two short
visits to the database, so no connection waits for a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

import numpy as np
from numpy.typing import NDArray

from pgbraid import prepare
from pgbraid._sync import catalog, upkeep
from pgbraid._sync import write as room
from pgbraid._sync.link import Database
from pgbraid.clock import Clock
from pgbraid.compute import directly
from pgbraid.embed import check_vectors
from pgbraid.errors import EmbeddingFailed, IngestError, PgbraidError, SettingsError
from pgbraid.identity import check_tenant
from pgbraid.models import Models
from pgbraid.values import Collection, Document, Embedder, IngestReport, Rejected

BATCH = 200
ROUNDS = 5
Item = Document | Rejected
Progress = Callable[[IngestReport], None]


@dataclass(slots=True)
class _Tally:
    """The report while it grows."""

    collection: str
    seen: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks_written: int = 0
    chunks_kept: int = 0
    embedded: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    cleaned: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def report(self, milliseconds: Mapping[str, float]) -> IngestReport:
        return IngestReport(
            collection=self.collection,
            seen=self.seen,
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            chunks_written=self.chunks_written,
            chunks_kept=self.chunks_kept,
            embedded=self.embedded,
            rejected=tuple(self.rejected),
            cleaned=tuple(self.cleaned),
            notes=tuple(self.notes),
            milliseconds=milliseconds,
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """What every batch of one ingest shares."""

    database: Database
    models: Models
    collection: Collection
    tally: _Tally
    clock: Clock


def ingest(
    database: Database,
    models: Models,
    name: str,
    documents: Iterable[Item],
    *,
    tenant: str | None = None,
    batch_size: int = BATCH,
    progress: Progress | None = None,
) -> IngestReport:
    """Load documents into a collection. Loading the same again embeds nothing and writes nothing.

    `tenant` is given to documents that name none. Raises NoSuchCollection, EmbedderMismatch, and EmbeddingFailed
    when the embedder fails for every document of a batch; what earlier batches wrote stays. One document alone that
    it fails for, after others went well, is rejected like one among many.
    """
    if type(batch_size) is not int or batch_size < 1:
        raise SettingsError(f"batch_size is a whole number from 1, not {batch_size!r}")
    with database.link() as link:
        collection = catalog.collection(link, name)
    check_tenant(collection, tenant or "")
    work = _Work(database, models, collection, _Tally(name), Clock())
    items = iter(documents)
    while batch := directly(_take, items, batch_size):
        _batch(work, batch, tenant)
        if progress:
            progress(work.tally.report(work.clock.finish()))
    if work.tally.chunks_written:
        with work.clock.stage("upkeep"):
            left_out = upkeep.after_ingest(database, collection, work.tally.chunks_written)
        work.tally.notes += [left_out] if left_out else []
    return work.tally.report(work.clock.finish())


def _take(items: Iterator[Item], size: int) -> list[Item]:
    return list(islice(items, size))


def _batch(work: _Work, batch: Sequence[Item], tenant: str | None) -> None:
    with work.clock.stage("clean"):
        drafts = directly(prepare.draft, batch, tenant)
    work.tally.seen += len(batch)
    work.tally.rejected += drafts.rejected
    work.tally.cleaned += drafts.cleaned
    good, astray = _of_known_tenants(work.collection, drafts.good)
    work.tally.rejected += astray
    by_tenant = sorted(good, key=lambda d: d.document.tenant)
    for owner, group in groupby(by_tenant, key=lambda d: d.document.tenant):
        _load(work, owner, list(group))


def _of_known_tenants(
    collection: Collection, drafts: Sequence[prepare.Draft]
) -> tuple[list[prepare.Draft], list[Rejected]]:
    """Documents that may be in this collection, and those that name a tenant although it has none."""
    good: list[prepare.Draft] = []
    astray: list[Rejected] = []
    for draft in drafts:
        try:
            check_tenant(collection, draft.document.tenant)
            good.append(draft)
        except SettingsError as error:
            astray.append(Rejected(draft.document.external_id, str(error)))
    return good, astray


def _load(work: _Work, tenant: str, drafts: list[prepare.Draft]) -> None:
    """Write documents of one tenant; those that another writer changed meanwhile are prepared anew."""
    for _ in range(ROUNDS):
        drafts = _load_once(work, tenant, drafts)
        if not drafts:
            return
    names = ", ".join(d.document.external_id for d in drafts[:5])
    raise IngestError(
        f"{len(drafts)} documents ({names}) were changed by others in each of {ROUNDS} rounds. Try again later."
    )


def _load_once(work: _Work, tenant: str, drafts: Sequence[prepare.Draft]) -> list[prepare.Draft]:
    with work.clock.stage("compare"):
        with work.database.link() as link:
            stored = room.known(link, work.collection, tenant, [d.id for d in drafts])
    fresh, unchanged = _changed(work, drafts, stored)
    work.tally.unchanged += unchanged
    if not fresh:
        return []
    embedder = directly(work.models.embedder, work.collection.embedder)
    with work.clock.stage("split"):
        pieces, empty = directly(prepare.cut, fresh, embedder.tokenizer, work.collection.chunking)
    work.tally.rejected += empty
    with work.clock.stage("embed"):
        hashes = {i: known.chunk_hashes for i, known in stored.items()}
        prepared, failed, broken = directly(_with_vectors, work, embedder, pieces, hashes)
        if broken and not prepared and not unchanged and (len(pieces) > 1 or not work.tally.embedded):
            raise broken
    work.tally.rejected += failed
    if prepared:
        with work.clock.stage("write"):
            with work.database.link() as link:
                written = room.write(link, work.collection, tenant, prepared)
        if written.stale:
            work.tally.rejected = [r for r in work.tally.rejected if r not in empty and r not in failed]
            return list(fresh)
        work.tally.added += written.added
        work.tally.changed += written.changed
        work.tally.unchanged += len(prepared) - written.added - written.changed
        work.tally.chunks_written += written.chunks_written
        work.tally.chunks_kept += written.chunks_kept
    return []


def _changed(
    work: _Work, drafts: Sequence[prepare.Draft], stored: Mapping[int, room.Known]
) -> tuple[list[prepare.Draft], int]:
    """The drafts that are new or differ from what is stored, and how many do not."""
    fresh: list[prepare.Draft] = []
    unchanged = 0
    for draft in drafts:
        known = stored.get(draft.id)
        if known is not None and known.external_id != draft.document.external_id:
            reason = f"its key is taken by {known.external_id!r}: two ids with one hash. Give one of them another id."
            work.tally.rejected.append(Rejected(draft.document.external_id, reason))
        elif known is not None and known.hash == draft.hash:
            unchanged += 1
        else:
            fresh.append(draft)
    return fresh, unchanged


def _with_vectors(
    work: _Work, embedder: Embedder, pieces: Sequence[prepare.Pieces], stored: Mapping[int, frozenset[bytes]]
) -> tuple[list[room.Prepared], list[Rejected], EmbeddingFailed | None]:
    """Chunks with their vectors; a document whose vector cannot be had or stored is rejected alone.

    The error is there when the embedder failed for every text.
    """
    texts = prepare.texts_without_vector(pieces, stored)
    vectors, problems, broken = _embed(work, embedder, texts)
    prepared: list[room.Prepared] = []
    rejected: list[Rejected] = []
    for piece in pieces:
        wrong = next((problems[h] for h in piece.hashes if h in problems), None)
        if wrong is not None:
            rejected.append(Rejected(piece.draft.document.external_id, wrong))
            continue
        own = tuple(vectors.get(h) for h in piece.hashes)
        prepared.append(room.Prepared(piece.draft.document, piece.draft.hash, piece.chunks, piece.hashes, own))
    return prepared, rejected, broken


def _embed(
    work: _Work, embedder: Embedder, texts: Mapping[bytes, str]
) -> tuple[dict[bytes, NDArray[np.float32]], dict[bytes, str], EmbeddingFailed | None]:
    """Vectors and problems by chunk hash: all texts at once, and where that fails one by one."""
    hashes = list(texts)
    if not hashes:
        return {}, {}, None
    try:
        return *_checked(work, hashes, _asked(embedder, [texts[h] for h in hashes])), None
    except EmbeddingFailed as error:
        if len(hashes) == 1:
            return {}, {hashes[0]: str(error)}, error
    vectors: dict[bytes, NDArray[np.float32]] = {}
    problems: dict[bytes, str] = {}
    errors: list[EmbeddingFailed] = []
    for digest in hashes:
        try:
            found, wrong = _checked(work, [digest], _asked(embedder, [texts[digest]]))
        except EmbeddingFailed as error:
            found, wrong = {}, {digest: str(error)}
            errors.append(error)
        vectors |= found
        problems |= wrong
    return vectors, problems, errors[-1] if len(errors) == len(hashes) else None


def _asked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """What the embedder gives; whatever it raises becomes EmbeddingFailed, for it may be anybody's code."""
    try:
        return embedder.embed_documents(texts)
    except PgbraidError:
        raise
    except Exception as error:
        raise EmbeddingFailed(f"the embedder failed on {len(texts)} texts: {type(error).__name__}: {error}") from error


def _checked(
    work: _Work, hashes: Sequence[bytes], vectors: NDArray[np.float32]
) -> tuple[dict[bytes, NDArray[np.float32]], dict[bytes, str]]:
    wrong = check_vectors(vectors, work.collection.embedder.dimensions, f"embedder {work.collection.embedder.name!r}")
    work.tally.embedded += len(hashes) - len(wrong)
    good = {h: vectors[i] for i, h in enumerate(hashes) if i not in wrong}
    return good, {hashes[i]: reason for i, reason in wrong.items()}
