"""Keeping a collection's word statistics true and small:

fold changes, and weigh chunks again when their average length has moved.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from pgbraid._async import catalog, indexes
from pgbraid._async.link import Database, Link
from pgbraid.db.statements import statement
from pgbraid.errors import StatementFailed
from pgbraid.values import Collection

HOLD_COLLECTION = statement("write/hold_collection")
LOCK_CHUNKS = statement("lexical/lock_chunks")
TRY_LOCK = statement("lexical/try_lock")
COMPACT_WORDS = statement("lexical/compact_words")
COMPACT_COUNTS = statement("lexical/compact_counts")
DRIFT = statement("lexical/drift")
STORE_AVERAGE_LENGTH = statement("lexical/store_average_length")
REWEIGH = statement("lexical/reweigh")
FLUSH_WORDS_INDEX = statement("lexical/flush_words_index")
TABLES_OWNER = statement("lexical/tables_owner")
ANALYZE = statement("write/analyze")

TOLERANCE = 0.1
ANALYZE_FROM = 0.1
MAY_NOT = "42501"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What upkeep did:

    whether it had its turn, the average length before and after, and whether chunks were weighed again.
    """

    done: bool
    stored: float = 0.0
    current: float = 0.0
    reweighed: bool = False


async def after_ingest(database: Database, collection: Collection, chunks_written: int) -> str | None:
    """Routine upkeep at the end of an ingest; gives why it was left out, if it was.

    In a caller's transaction nothing is done: its locks would outlive the call. Nor for a role that does not own the
    tables: it may not, and would not see every tenant's rows.
    """
    async with database.link() as link:
        if link.joins:
            return (
                "Upkeep was left out, since the transaction is the caller's. After its commit run: "
                f"pgbraid lexical refresh {shlex.quote(collection.name)}"
            )
        owner, allowed = await _owner(link, collection)
        if not allowed:
            return (
                f"Upkeep was left out, since this role does not own the tables of {collection.name!r}. Run as "
                f"{owner} now and then: pgbraid lexical refresh {shlex.quote(collection.name)}"
            )
        await indexes.ensure(link, collection)
        await refresh(link, collection)
        await _tidy(link, collection, analyze=chunks_written >= max(1000, ANALYZE_FROM * collection.chunks))
        return None


async def _tidy(link: Link, collection: Collection, analyze: bool) -> None:
    """Empty the pending lists of the GIN indexes and gather statistics, unless the tables are gone."""
    async with link.writing():
        await link.rows(HOLD_COLLECTION, collection_id=collection.id)
        if not await link.rows(TABLES_OWNER, chunk_table=collection.chunk_table):
            return
        for index in ("words_gin", "metadata_gin"):
            await link.rows(FLUSH_WORDS_INDEX, index=f"{collection.chunk_table}_{index}")
        if analyze:
            for table in (collection.document_table, collection.chunk_table):
                await link.rows(ANALYZE.fill(table=table))


async def _owner(link: Link, collection: Collection) -> tuple[str, bool]:
    """The role that owns a collection's tables, and whether this one may act as it. Raises NoSuchCollection."""
    rows = await link.rows(TABLES_OWNER, chunk_table=collection.chunk_table)
    if not rows:
        await catalog.collection(link, collection.name)
    return (rows[0]["owner"], rows[0]["allowed"]) if rows else ("their owner", False)


async def refresh_as_owner(link: Link, collection: Collection, tolerance: float = TOLERANCE) -> Refreshed:
    """`refresh` when somebody asks for it. Raises StatementFailed for a role that does not own the tables."""
    owner, allowed = await _owner(link, collection)
    if not allowed:
        raise StatementFailed(
            f"Only the owner of the tables of {collection.name!r}, {owner}, may bring its word statistics up to date. "
            f"Do so as that role or a member of it. [{MAY_NOT}]",
            MAY_NOT,
        )
    return await refresh(link, collection, tolerance)


async def refresh(link: Link, collection: Collection, tolerance: float = TOLERANCE) -> Refreshed:
    """Fold the changes of counts, and weigh every chunk again if the average length moved by more than `tolerance`
    (a share).
    """
    async with link.writing(upkeep=True):
        await link.rows(HOLD_COLLECTION, collection_id=collection.id)
        if not (await link.rows(TRY_LOCK, collection_id=collection.id))[0]["taken"]:
            return Refreshed(done=False)
        await link.rows(COMPACT_WORDS, collection_id=collection.id)
        await link.rows(COMPACT_COUNTS, collection_id=collection.id)
        drift = next(iter(await link.rows(DRIFT, collection_id=collection.id)), None)
        if drift is None:  # dropped meanwhile
            return Refreshed(done=False)
        stored, current = drift["stored"], drift["current"] or 0.0
        moved = current > 0 and abs(stored / current - 1) > tolerance
        if moved:
            await link.rows(LOCK_CHUNKS.fill(chunk=collection.chunk_table), collection_id=collection.id)
            await link.rows(STORE_AVERAGE_LENGTH, collection_id=collection.id, average_length=current)
            await link.rows(
                REWEIGH.fill(chunk=collection.chunk_table, ext=link.facts.vector_schema),
                collection_id=collection.id,
                k1=collection.k1,
                b=collection.b,
                average_length=current,
            )
        return Refreshed(True, stored, current, moved)
