"""Keeping a collection's word statistics true and small:

fold changes, and weigh chunks again when their average length has moved.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgbraid._async import indexes
from pgbraid._async.link import Database, Link
from pgbraid.db.statements import statement
from pgbraid.values import Collection

TRY_LOCK = statement("lexical/try_lock")
COMPACT_WORDS = statement("lexical/compact_words")
COMPACT_COUNTS = statement("lexical/compact_counts")
DRIFT = statement("lexical/drift")
STORE_AVERAGE_LENGTH = statement("lexical/store_average_length")
REWEIGH = statement("lexical/reweigh")
FLUSH_WORDS_INDEX = statement("lexical/flush_words_index")
ANALYZE = statement("write/analyze")

TOLERANCE = 0.1
ANALYZE_FROM = 0.1


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What upkeep did:

    whether it had its turn, the average length before and after, and whether chunks were weighed again.
    """

    done: bool
    stored: float = 0.0
    current: float = 0.0
    reweighed: bool = False


async def after_ingest(database: Database, collection: Collection, chunks_written: int) -> None:
    """Routine upkeep at the end of an ingest.

    In a caller's transaction nothing is done: its locks would outlive the call.
    """
    async with database.link() as link:
        if link.joins:
            return
        await indexes.ensure(link, collection)
        await refresh(link, collection)
        for index in ("words_gin", "metadata_gin"):
            await link.rows(FLUSH_WORDS_INDEX, index=f"{collection.chunk_table}_{index}")
        if chunks_written >= max(1000, ANALYZE_FROM * collection.chunks):
            for table in (collection.document_table, collection.chunk_table):
                await link.rows(ANALYZE.fill(table=table))


async def refresh(link: Link, collection: Collection, tolerance: float = TOLERANCE) -> Refreshed:
    """Fold the changes of counts, and weigh every chunk again if the average length moved by more than `tolerance`
    (a share).
    """
    async with link.writing(upkeep=True):
        if not (await link.rows(TRY_LOCK, collection_id=collection.id))[0]["taken"]:
            return Refreshed(done=False)
        await link.rows(COMPACT_WORDS, collection_id=collection.id)
        await link.rows(COMPACT_COUNTS, collection_id=collection.id)
        drift = (await link.rows(DRIFT, collection_id=collection.id))[0]
        stored, current = drift["stored"], drift["current"] or 0.0
        moved = current > 0 and abs(stored / current - 1) > tolerance
        if moved:
            await link.rows(STORE_AVERAGE_LENGTH, collection_id=collection.id, average_length=current)
            await link.rows(
                REWEIGH.fill(chunk=collection.chunk_table, ext=link.facts.vector_schema),
                collection_id=collection.id,
                k1=collection.k1,
                b=collection.b,
                average_length=current,
            )
        return Refreshed(True, stored, current, moved)
