# Generated from src/pgbraid/_async/ingest.py by scripts/async_to_sync.py. Change that file, not this one.

"""The way in: read → clean → what is new? → split → embed → write. A batch at a time, each in one transaction.

While PostgreSQL writes a batch, the next one is read, split and embedded. One bad document never loses the
rest of its batch; it is in the report. Embedding happens between two short visits to the database, so no connection
waits for a model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

from pgbraid import prepare
from pgbraid._sync import catalog, indexes, upkeep
from pgbraid._sync import write as room
from pgbraid._sync.link import Database
from pgbraid.clock import Clock
from pgbraid.compute import beside_thread, directly, outcome_of
from pgbraid.errors import IngestError, PgbraidError, SettingsError
from pgbraid.identity import check_tenant
from pgbraid.making import Made, Wanted, make
from pgbraid.models import Models
from pgbraid.tally import Tally
from pgbraid.values import Collection, Document, IngestReport, Rejected

FIRST, SMALLEST, LARGEST = 200, 10, 4000  # documents in a batch
SECONDS = 2.0  # that a batch shall take to be written, when nobody says how large it is
CHARACTERS = 4_000_000  # of text in a batch, so that memory does not grow with the size of documents
ROUNDS = 5
Item = Document | Rejected
Progress = Callable[[IngestReport], None]
OnRejected = Callable[[Rejected, Document | None], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to load. `tenant` is given to documents that name none. `batch_size` is in documents; None lets it follow
    what writing takes. `progress` is called after each batch; `on_rejected` for each rejected document, with the
    document where there is one. `checkpoint` names the load: begun again with the same documents in the same order
    it goes on behind what was written.
    """

    tenant: str | None = None
    batch_size: int | None = None
    progress: Progress | None = None
    on_rejected: OnRejected | None = None
    checkpoint: str | None = None


@dataclass(slots=True)
class _Work:
    """What every batch of one ingest shares; `size` is that of the next batch, `on_the_way` are the ids of documents
    that are made but not yet written: what is stored of them says nothing.
    """

    database: Database
    models: Models
    collection: Collection
    options: Options
    tally: Tally
    clock: Clock
    size: int
    on_the_way: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch on its way: what came, what was rejected before anything was made of it, and what is being made."""

    items: Sequence[Item]
    rejected: Sequence[Rejected]
    cleaned: Sequence[Rejected]
    making: Any  # a future of list[Made]


def ingest(
    database: Database, models: Models, name: str, documents: Iterable[Item], options: Options | None = None
) -> IngestReport:
    """Load documents into a collection. Loading the same again embeds nothing and writes nothing.

    Raises NoSuchCollection, EmbedderMismatch, and EmbeddingFailed when the embedder fails for every document of a
    batch; what earlier batches wrote stays. One document alone that it fails for, after others went well, is rejected
    like one among many.
    """
    options = options or Options()
    size = options.batch_size
    if size is not None and (type(size) is not int or size < 1):
        raise SettingsError(f"batch_size is a whole number from 1, not {size!r}")
    with database.link() as link:
        collection = catalog.collection(link, name)
        done = room.checkpoint(link, collection, options.checkpoint) if options.checkpoint else 0
    check_tenant(collection, options.tenant or "")
    work = _Work(database, models, collection, options, Tally(name, resumed=done), Clock(), size or FIRST)
    try:
        _load_all(work, islice(iter(documents), done, None))
    except PgbraidError:
        with suppress(PgbraidError):
            upkeep.after_ingest(database, collection, 0)
        raise
    if work.tally.chunks_written or done:
        with work.clock.stage("upkeep"):
            left_out = upkeep.after_ingest(database, collection, work.tally.chunks_written)
        work.tally.notes += [left_out] if left_out else []
    _remember(work, end=True)
    return work.tally.report(work.clock.finish())


def _load_all(work: _Work, items: Iterator[Item]) -> None:
    """Batch after batch, each written while the next one is made."""
    current = _begin(work, items)
    first = True
    while current is not None:
        following: _Batch | None = None
        failed: Exception | None = None
        try:
            following = _begin(work, items)
        except Exception as error:  # what is made already is written first
            failed = error
        if first and following is not None and not work.collection.documents:
            with work.database.link() as link:
                indexes.put_off(link, work.collection)
        first = False
        _finish(work, current)
        if failed is not None:
            raise failed
        current = following


def take(items: Iterator[Item], size: int) -> list[Item]:
    """As many as fit in a batch, by number and by the characters of their texts."""
    taken: list[Item] = []
    characters = 0
    for item in items:
        taken.append(item)
        characters += len(item.text) if isinstance(item, Document) and isinstance(item.text, str) else 0
        if len(taken) >= size or characters >= CHARACTERS:
            break
    return taken


def _begin(work: _Work, items: Iterator[Item]) -> _Batch | None:
    """Read and clean the next batch, see what of it is new, and begin to make that ready."""
    with work.clock.stage("read"):
        batch = directly(take, items, work.size)
    if not batch:
        return None
    with work.clock.stage("clean"):
        drafts = directly(prepare.draft, batch, work.options.tenant)
    good, astray = of_known_tenants(work.collection, drafts.good)
    rejected = [*drafts.rejected, *astray]
    wanted: list[Wanted] = []
    with work.clock.stage("compare"):
        for owner, group in groupby(sorted(good, key=tenant_of), key=tenant_of):
            one, taken = compare(work.database, work.collection, owner, list(group), work.on_the_way)
            wanted.append(one)
            rejected += taken
    work.on_the_way = frozenset(draft.id for one in wanted for draft in one.fresh)
    making = beside_thread(
        make, work.collection, lambda: work.models.embedder(work.collection.embedder), wanted, work.clock
    )
    return _Batch(batch, rejected, drafts.cleaned, making)


def tenant_of(draft: prepare.Draft) -> str:
    return draft.document.tenant


def of_known_tenants(
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


def compare(
    database: Database,
    collection: Collection,
    tenant: str,
    drafts: Sequence[prepare.Draft],
    on_the_way: frozenset[int] = frozenset(),
) -> tuple[Wanted, list[Rejected]]:
    """The drafts that are new or differ from what is stored, and those whose key another document has."""
    with database.link() as link:
        stored = room.known(link, collection, tenant, [d.id for d in drafts])
    fresh: list[prepare.Draft] = []
    taken: list[Rejected] = []
    for draft in drafts:
        known = stored.get(draft.id)
        if known is not None and known.external_id != draft.document.external_id:
            reason = f"its key is taken by {known.external_id!r}: two ids with one hash. Give one of them another id."
            taken.append(Rejected(draft.document.external_id, reason))
        elif known is None or known.hash != draft.hash or draft.id in on_the_way:
            fresh.append(draft)
    unchanged = len(drafts) - len(fresh) - len(taken)
    hashes = {i: k.chunk_hashes for i, k in stored.items() if i not in on_the_way}
    return Wanted(tenant, tuple(fresh), unchanged, hashes), taken


def _finish(work: _Work, batch: _Batch) -> None:
    """Write what was made of a batch, tenant by tenant, and remember where the load stands."""
    tally, before = work.tally, len(work.tally.rejected)
    tally.seen += len(batch.items)
    tally.rejected += batch.rejected
    tally.cleaned += batch.cleaned
    with work.clock.stage("wait"):
        made = outcome_of(batch.making)
    start = time.perf_counter()
    for one in made:
        _load(work, one)
    if work.options.batch_size is None:
        work.size = _next_size(len(batch.items), time.perf_counter() - start)
    if work.options.on_rejected:
        _tell(work.options.on_rejected, batch.items, tally.rejected[before:])
    _remember(work, end=False)
    if work.options.progress:
        work.options.progress(tally.report(work.clock.finish()))


def _next_size(size: int, seconds: float) -> int:
    """Half to twice the size of the last batch, towards one that takes as long as it shall."""
    change = min(2.0, max(0.5, SECONDS / seconds)) if seconds > 0 else 2.0
    return min(LARGEST, max(SMALLEST, round(size * change)))


def _tell(on_rejected: OnRejected, items: Sequence[Item], rejected: Sequence[Rejected]) -> None:
    """Hand out rejections with their documents, as they came."""
    by_name = {item.external_id: item for item in items if isinstance(item, Document)} if rejected else {}
    for one in rejected:
        on_rejected(one, by_name.get(one.external_id))


def _remember(work: _Work, *, end: bool) -> None:
    if work.options.checkpoint is not None:
        position = None if end else work.tally.resumed + work.tally.seen
        with work.database.link() as link:
            room.save_checkpoint(link, work.collection, work.options.checkpoint, position)


def _load(work: _Work, made: Made) -> None:
    """Write documents of one tenant; those that another writer changed meanwhile are prepared anew."""
    for _ in range(ROUNDS):
        if _write(work, made):
            return
        again, taken = compare(work.database, work.collection, made.wanted.tenant, made.wanted.fresh)
        work.tally.rejected += taken
        making = beside_thread(
            make, work.collection, lambda: work.models.embedder(work.collection.embedder), [again], work.clock
        )
        made = (outcome_of(making))[0]
    names = ", ".join(d.document.external_id for d in made.wanted.fresh[:5])
    raise IngestError(
        f"{len(made.wanted.fresh)} documents ({names}) were changed by others in each of {ROUNDS} rounds. "
        "Try again later."
    )


def _write(work: _Work, made: Made) -> bool:
    """Write what was made; False when it is stale, and nothing was written."""
    tally, prepared = work.tally, made.prepared
    tally.embedded += made.embedded
    if made.broken and not prepared and not made.wanted.unchanged and (made.pieces > 1 or not tally.embedded):
        raise made.broken
    tally.unchanged += made.wanted.unchanged
    if prepared:
        with work.clock.stage("write"):
            with work.database.link() as link:
                written = room.write(link, work.collection, made.wanted.tenant, prepared)
        if written.stale:
            return False
        tally.added += written.added
        tally.changed += written.changed
        tally.unchanged += len(prepared) - written.added - written.changed
        tally.chunks_written += written.chunks_written
        tally.chunks_kept += written.chunks_kept
    tally.rejected += made.rejected
    return True
