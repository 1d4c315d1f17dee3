"""A load that writes nothing: what is new, how many chunks and tokens it makes, how long embedding would take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import groupby

from pgbraid import prepare
from pgbraid._async import catalog, ingest
from pgbraid._async.link import Database
from pgbraid.compute import in_executor
from pgbraid.identity import check_tenant
from pgbraid.making import Wanted
from pgbraid.models import Models
from pgbraid.tally import Rehearsal
from pgbraid.values import Collection, Embedder

SAMPLE = 32  # texts that are embedded, to see how long one takes


async def rehearse(
    database: Database, models: Models, name: str, documents: Iterable[ingest.Item], tenant: str | None = None
) -> Rehearsal:
    """Read, clean, compare and split what would be loaded. Nothing is written; the texts of a sample are embedded."""
    async with database.link() as link:
        collection = await catalog.collection(link, name)
    check_tenant(collection, tenant or "")
    embedder = await in_executor(models.embedder, collection.embedder)
    items, total, sample = iter(documents), Rehearsal(name, dimensions=collection.embedder.dimensions), list[str]()
    while batch := await in_executor(ingest.take, items, ingest.FIRST):
        drafts = await in_executor(prepare.draft, batch, tenant)
        good, astray = ingest.of_known_tenants(collection, drafts.good)
        wanted, taken = [], 0
        for owner, group in groupby(sorted(good, key=ingest.tenant_of), key=ingest.tenant_of):
            one, rejected = await ingest.compare(database, collection, owner, list(group))
            wanted.append(one)
            taken += len(rejected)
        counted, texts = await in_executor(_counted, collection, embedder, wanted)
        total = total.plus(counted).plus(
            Rehearsal(name, seen=len(batch), rejected=len(drafts.rejected) + len(astray) + taken)
        )
        sample += texts[: SAMPLE - len(sample)]
    return total.timed(await in_executor(_seconds, embedder, sample))


def _counted(collection: Collection, embedder: Embedder, wanted: Sequence[Wanted]) -> tuple[Rehearsal, list[str]]:
    """What documents of one batch come to, and the texts of theirs that need a vector."""
    total, needed = Rehearsal(collection.name), list[str]()
    for one in wanted:
        pieces, empty = prepare.cut(one.fresh, embedder.tokenizer, collection.chunking)
        texts = list(prepare.texts_without_vector(pieces, one.stored).values())
        known = sum(piece.draft.id in one.stored for piece in pieces)
        needed += texts
        total = total.plus(
            Rehearsal(
                collection.name,
                added=len(pieces) - known,
                changed=known,
                unchanged=one.unchanged,
                rejected=len(empty),
                chunks=sum(len(piece.chunks) for piece in pieces),
                to_embed=len(texts),
                tokens=sum(len(embedder.tokenizer.spans(text)) for text in texts),
                text_bytes=sum(len(piece.draft.document.text.encode()) for piece in pieces),
            )
        )
    return total, needed


def _seconds(embedder: Embedder, sample: Sequence[str]) -> float:
    """Seconds that one text takes; the first call, which may load or warm up something, does not count."""
    if not sample:
        return 0.0
    embedder.embed_documents(sample[:1])
    start = time.perf_counter()
    embedder.embed_documents(sample)
    return (time.perf_counter() - start) / len(sample)
