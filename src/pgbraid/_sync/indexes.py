# Generated from src/pgbraid/_async/indexes.py by scripts/async_to_sync.py. Change that file, not this one.

"""The vector index of a collection: made with it, put off while much is loaded, repaired when a build was broken off.

Everything here can be done twice, and while others read and write. What is in the tables is not the business of
this room.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgbraid._sync.link import Link
from pgbraid.db.statements import Statement, statement
from pgbraid.errors import StatementFailed
from pgbraid.values import Collection, EmbedderRecord, VectorIndex

CREATE_VECTOR_INDEX = statement("catalog/create_vector_index")
BUILD_VECTOR_INDEX = statement("upkeep/build_vector_index")
REBUILD_INDEX = statement("upkeep/rebuild_index")
DROP_INDEX = statement("upkeep/drop_index")
STANDING = statement("upkeep/vector_index")
HOLD_COLLECTION = statement("write/hold_collection")
SHORT_WAIT = statement("session/short_wait")

LOCK_NOT_AVAILABLE = "55P03"
ALREADY_THERE = ("42P07", "23505")


@dataclass(frozen=True, slots=True)
class Standing:
    """How an index stands; `busy` when somebody builds or vacuums at the moment, `owned` when this role may make it."""

    present: bool
    valid: bool
    busy: bool
    owned: bool


def name_of(chunk_table: str) -> str:
    """What the vector index of a chunk table is called."""
    return f"{chunk_table}_embedding_hnsw"


def creation(made: Statement, table: str, schema: str, record: EmbedderRecord, index: VectorIndex) -> Statement:
    """The statement that makes the vector index of a chunk table; pgvector lives in `schema`."""
    return made.fill(
        index=name_of(table),
        table=table,
        ext=schema,
        storage=index.storage,
        dim=record.dimensions,
        opclass=f"{index.storage}_{record.metric}_ops",
        m=index.m,
        ef=index.ef_construction,
    )


def standing(link: Link, collection: Collection) -> Standing:
    """How the vector index of a collection stands."""
    table = collection.chunk_table
    rows = link.rows(STANDING, table=table, index=name_of(table))
    return Standing(**rows[0]) if rows else Standing(False, False, False, False)


def put_off(link: Link, collection: Collection) -> bool:
    """Take the index of an empty collection away before much is loaded: built at the end it takes a fraction of the
    time. False where this role may not, or would have to wait for others.
    """
    if link.joins or not (standing(link, collection)).owned:
        return False
    try:
        with link.writing():
            link.rows(SHORT_WAIT)
            link.rows(HOLD_COLLECTION, collection_id=collection.id)
            link.rows(DROP_INDEX.fill(index=name_of(collection.chunk_table)))
    except StatementFailed as error:
        if error.sqlstate != LOCK_NOT_AVAILABLE:
            raise
        return False
    return True


def ensure(link: Link, collection: Collection) -> str:
    """Build the index when it is missing, and anew when an earlier build was broken off: `built`, `rebuilt`, or
    nothing. Readers and writers go on meanwhile; in a caller's transaction nothing is done.
    """
    if link.joins:
        return ""
    found = standing(link, collection)
    if not found.owned or found.valid or (found.present and found.busy):
        return ""
    if found.present:
        link.rows(REBUILD_INDEX.fill(index=name_of(collection.chunk_table)))
        return "rebuilt"
    making = creation(
        BUILD_VECTOR_INDEX, collection.chunk_table, link.facts.vector_schema, collection.embedder, collection.index
    )
    try:
        link.rows(making)
    except StatementFailed as error:
        if error.sqlstate not in ALREADY_THERE:
            raise
        return ""
    return "built"
