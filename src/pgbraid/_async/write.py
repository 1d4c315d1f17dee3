"""Writing a batch of documents with their chunks: one transaction, staged binary COPY, keys in order.

Whoever comes second sees the first one's rows and writes only what still differs. Embeddings of unchanged chunks
are kept in the database; nothing is half written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from pgbraid._async.link import Call, Link, Row
from pgbraid.db.statements import statement
from pgbraid.errors import StatementFailed
from pgbraid.identity import check_tenant, document_id
from pgbraid.prepare import Prepared
from pgbraid.values import Collection

KNOWN_DOCUMENTS = statement("write/known_documents")
CREATE_DOCUMENT_STAGE = statement("write/create_document_stage")
CREATE_CHUNK_STAGE = statement("write/create_chunk_stage")
COPY_DOCUMENTS = statement("write/copy_documents")
COPY_CHUNKS = statement("write/copy_chunks")
UPSERT_DOCUMENTS = statement("write/upsert_documents")
MARK_WRITTEN = statement("write/mark_written")
KEEP_EMBEDDINGS = statement("write/keep_embeddings")
MISSING_EMBEDDINGS = statement("write/missing_embeddings")
CREATE_WORD_STAGE = statement("write/create_word_stage")
STAGE_WORDS = statement("write/stage_words")
SET_AVERAGE_LENGTH = statement("write/set_average_length")
ADD_LEXEMES = statement("write/add_lexemes")
COUNT_REMOVED_WORDS = statement("write/count_removed_words")
COUNT_REMOVED_CHUNKS = statement("write/count_removed_chunks")
COUNT_ADDED_WORDS = statement("write/count_added_words")
WRITE_CHUNKS = statement("write/write_chunks")
REMOVE_LEFTOVER_CHUNKS = statement("write/remove_leftover_chunks")
DROP_STAGES = statement("write/drop_stages")
CHECKPOINT = statement("write/checkpoint")
SAVE_CHECKPOINT = statement("write/save_checkpoint")
DROP_CHECKPOINT = statement("write/drop_checkpoint")
LOCK_DOCUMENTS = statement("write/lock_documents")
REMOVE_DOCUMENTS = statement("write/remove_documents")
VECTOR_OID = statement("write/vector_oid")
HOLD_COLLECTION = statement("write/hold_collection")
DEADLOCK = "40P01"
SHOW_DOCUMENT = statement("write/show_document")


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of a document: its hash, and the hashes of its chunks."""

    external_id: str
    hash: bytes
    chunk_hashes: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch changed.

    `stale` are documents that another writer changed meanwhile: nothing was written, prepare them anew.
    """

    added: int = 0
    changed: int = 0
    chunks_written: int = 0
    chunks_kept: int = 0
    stale: frozenset[int] = frozenset()


async def known(link: Link, collection: Collection, tenant: str, ids: Sequence[int]) -> dict[int, Known]:
    """What is stored under these ids."""
    call = KNOWN_DOCUMENTS.fill(document=collection.document_table, chunk=collection.chunk_table)
    params = {"collection": collection.id, "tenant": tenant, "document_ids": list(ids)}
    rows = (await link.read([_held(collection), (call, params)], tenant))[1]
    return {r["id"]: Known(r["external_id"], bytes(r["hash"]), frozenset(map(bytes, r["chunk_hashes"]))) for r in rows}


def _held(collection: Collection) -> Call:
    return HOLD_COLLECTION, {"collection_id": collection.id}


class _Stale(Exception):
    def __init__(self, ids: frozenset[int]) -> None:
        super().__init__()
        self.ids = ids


async def write(link: Link, collection: Collection, tenant: str, batch: Sequence[Prepared]) -> Written:
    """Write documents of one tenant. All of them, or, when `stale` is not empty, none.

    PostgreSQL ends one of two transactions that wait for each other; where that one is ours all of it counts as stale.
    """
    joined = link.joins
    try:
        async with link.writing(tenant):
            return await _write(link, collection, tenant, sorted(batch, key=lambda p: p.id))
    except _Stale as stale:
        return Written(stale=stale.ids)
    except StatementFailed as error:
        if error.sqlstate != DEADLOCK or joined:
            raise
        return Written(stale=frozenset(p.id for p in batch))


async def _write(link: Link, collection: Collection, tenant: str, batch: Sequence[Prepared]) -> Written:
    here = {"collection_id": collection.id, "tenant": tenant}
    await link.rows(HOLD_COLLECTION, collection_id=collection.id)
    await _stage(link, collection, batch)
    rows = await link.rows(UPSERT_DOCUMENTS.fill(document=collection.document_table), **here)
    ids = [row["id"] for row in rows]
    result = Written()
    if ids:
        added = sum(row["added"] for row in rows)
        await link.rows(MARK_WRITTEN, document_ids=ids)
        if added < len(ids):
            await link.rows(KEEP_EMBEDDINGS.fill(chunk=collection.chunk_table), **here)
        if missing := await link.rows(MISSING_EMBEDDINGS):
            raise _Stale(frozenset(row["document_id"] for row in missing))
        counted = await _replace_chunks(link, collection, here, ids, added)
        result = Written(added, len(ids) - added, counted["written"], counted["chunks"] - counted["written"])
    await link.rows(DROP_STAGES)
    return result


async def _replace_chunks(
    link: Link, collection: Collection, here: Mapping[str, object], ids: Sequence[int], added: int
) -> Row:
    """Old chunks out of the counts, new ones in; only chunks that differ are touched."""
    own = {"collection_id": collection.id}
    if collection.average_length == 0:
        await link.rows(SET_AVERAGE_LENGTH, **own)
    if added < len(ids):
        await _uncount(link, collection, here, ids, documents=0)
    await link.rows(STAGE_WORDS, **own)
    await link.rows(ADD_LEXEMES, **own)
    await link.rows(COUNT_ADDED_WORDS, **own)
    writing = WRITE_CHUNKS.fill(chunk=collection.chunk_table, ext=link.facts.vector_schema)
    counted = (await link.rows(writing, **here, documents=added))[0]
    if added < len(ids):
        await link.rows(REMOVE_LEFTOVER_CHUNKS.fill(chunk=collection.chunk_table), **here)
    return counted


async def _uncount(
    link: Link, collection: Collection, here: Mapping[str, object], ids: Sequence[int], documents: int
) -> None:
    """Take the stored chunks of these documents out of every count."""
    table = collection.chunk_table
    await link.rows(COUNT_REMOVED_WORDS.fill(chunk=table), **here, document_ids=ids)
    await link.rows(COUNT_REMOVED_CHUNKS.fill(chunk=table), **here, document_ids=ids, documents=documents)


async def _stage(link: Link, collection: Collection, batch: Sequence[Prepared]) -> None:
    schema = link.facts.vector_schema
    await link.rows(CREATE_DOCUMENT_STAGE)
    await link.rows(CREATE_CHUNK_STAGE.fill(ext=schema))
    await link.rows(CREATE_WORD_STAGE)
    await link.copy(
        COPY_DOCUMENTS,
        ["int8", "text", "text", "text", "jsonb", "bytea", "int4"],
        (
            (p.id, d.external_id, d.title, d.text, Jsonb(dict(d.metadata)), p.hash, len(p.chunks))
            for p in batch
            for d in [p.document]
        ),
    )
    oid = (await link.rows(VECTOR_OID, schema=schema))[0]["oid"]
    await link.copy(
        COPY_CHUNKS,
        ["int8", "int4", "int4", "int4", "bytea", "text[]", "jsonb", "text", "text", "text", oid],
        (
            (
                p.id, c.ordinal, c.start, c.end, digest, list(c.headings), Jsonb(dict(p.document.metadata)),
                c.context, c.text, collection.text_config, vector,
            )
            for p in batch
            for c, digest, vector in zip(p.chunks, p.chunk_hashes, p.vectors, strict=True)
        ),
    )  # fmt: skip


async def remove(link: Link, collection: Collection, tenant: str, external_ids: Sequence[str]) -> tuple[str, ...]:
    """Remove documents with their chunks; the external ids of those that were there."""
    check_tenant(collection, tenant)
    here = {"collection_id": collection.id, "tenant": tenant}
    wanted = sorted(document_id(tenant, external_id) for external_id in external_ids)
    async with link.writing(tenant):
        await link.rows(HOLD_COLLECTION, collection_id=collection.id)
        lock = LOCK_DOCUMENTS.fill(document=collection.document_table)
        ids = [row["id"] for row in await link.rows(lock, **here, document_ids=wanted)]
        if not ids:
            return ()
        await _uncount(link, collection, here, ids, documents=len(ids))
        rows = await link.rows(REMOVE_DOCUMENTS.fill(document=collection.document_table), **here, document_ids=ids)
    return tuple(sorted(row["external_id"] for row in rows))


async def show(link: Link, collection: Collection, tenant: str, external_id: str) -> Row | None:
    """One document with its chunks, or None."""
    check_tenant(collection, tenant)
    call = SHOW_DOCUMENT.fill(document=collection.document_table, chunk=collection.chunk_table)
    params = {"collection": collection.id, "tenant": tenant, "document_id": document_id(tenant, external_id)}
    rows = (await link.read([_held(collection), (call, params)], tenant))[1]
    return rows[0] if rows else None


async def checkpoint(link: Link, collection: Collection, name: str) -> int:
    """How many documents an interrupted load of that name has written; 0 when there was none."""
    rows = await link.rows(CHECKPOINT, collection_id=collection.id, name=name)
    return int(rows[0]["position"]) if rows else 0


async def save_checkpoint(link: Link, collection: Collection, name: str, position: int | None) -> None:
    """Remember how many documents of a load are written; None when it came to its end."""
    if position is None:
        await link.rows(DROP_CHECKPOINT, collection_id=collection.id, name=name)
    else:
        await link.rows(SAVE_CHECKPOINT, collection_id=collection.id, name=name, position=position)
