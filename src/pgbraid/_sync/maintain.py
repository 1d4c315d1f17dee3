# Generated from src/pgbraid/_async/maintain.py by scripts/async_to_sync.py. Change that file, not this one.

"""Upkeep that cron does: indexes whole and lean, tables vacuumed and analysed, words counted, old checkpoints gone.

Every step may run while others read, write or do the same: it then does nothing, or nothing new.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgbraid._sync import catalog, indexes, upkeep
from pgbraid._sync.link import Database, Link
from pgbraid.db.statements import statement
from pgbraid.errors import SettingsError
from pgbraid.values import Collection

TABLES = statement("upkeep/tables")
VACUUM = statement("upkeep/vacuum")
ANALYZE = statement("upkeep/analyze")
INDEX_PAGES = statement("upkeep/index_pages")
EXPIRE_CHECKPOINTS = statement("upkeep/expire_checkpoints")
EXPIRE_SCORES = statement("upkeep/expire_scores")

DEAD, CHANGED = 0.1, 0.1
BLOATED, WORTH_IT = 2.0, 256  # times the pages that its rows need; pages below which nobody minds
DAYS = 30
SCORES = 1_000_000  # pairs whose rerank scores stay in the table
PAGE = 8100  # bytes of a page that rows can use


@dataclass(frozen=True, slots=True)
class Maintained:
    """What was done: by collection what became of its index (`built`, `rebuilt`), whose words were weighed again, which
    tables were vacuumed or analysed, and how many old checkpoints and rerank scores are gone. `busy` are collections
    whose words somebody else was counting.
    """

    indexes: dict[str, str]
    reweighed: tuple[str, ...]
    busy: tuple[str, ...]
    vacuumed: tuple[str, ...]
    analysed: tuple[str, ...]
    checkpoints: int
    scores: int


def maintain(database: Database, name: str | None = None) -> Maintained:
    """Look after one collection or all that this role owns, and after the tables that they share.

    Raises NoSuchCollection, and SettingsError in a caller's transaction, where half of it cannot be done.
    """
    with database.link() as link:
        if link.joins:
            raise SettingsError("Maintenance builds indexes and vacuums, which no transaction can: use another braid.")
        every = catalog.collections(link)
        chosen = [catalog.collection(link, name)] if name is not None else list(every)
        owned = [c for c in chosen if (indexes.standing(link, c)).owned]
        found = {c.name: _index(link, c) for c in owned}
        words = {c.name: upkeep.refresh(link, c) for c in owned}
        vacuumed, analysed = _tables(link, chosen, every)
        with link.writing():
            expired = link.rows(EXPIRE_CHECKPOINTS, days=DAYS)
            forgotten = link.rows(EXPIRE_SCORES, days=DAYS, most=SCORES)
    return Maintained(
        indexes={name: what for name, what in found.items() if what},
        reweighed=tuple(name for name, done in words.items() if done.reweighed),
        busy=tuple(name for name, done in words.items() if not done.done),
        vacuumed=tuple(vacuumed),
        analysed=tuple(analysed),
        checkpoints=len(expired),
        scores=forgotten[0]["removed"],
    )


def _index(link: Link, collection: Collection) -> str:
    """Build what is missing or broken, and anew what has grown far beyond its rows."""
    done = indexes.ensure(link, collection)
    if done:
        return done
    index = indexes.name_of(collection.chunk_table)
    rows = link.rows(INDEX_PAGES, table=collection.chunk_table, index=index)
    pages = (rows[0]["pages"] or 0) if rows else 0
    if pages < WORTH_IT or pages < BLOATED * needed_pages(collection, rows[0]["rows"]):
        return ""
    if (indexes.standing(link, collection)).busy:
        return ""
    link.rows(indexes.REBUILD_INDEX.fill(index=index))
    return "rebuilt"


def needed_pages(collection: Collection, rows: int) -> float:
    """Pages of an HNSW index of so many rows.

    An element holds its vector and about 90 bytes; its neighbours, twice m on the lowest layer and m on each of the
    few above, take 6 bytes each (pgvector, src/hnsw.h). What does not fit on a page starts the next one.
    """
    width = 2 if collection.index.storage == "halfvec" else 4
    each = width * collection.embedder.dimensions + 90 + 6 * 2 * collection.index.m * 1.1 + 16
    return rows / max(1, PAGE // each)


def _tables(link: Link, chosen: list[Collection], every: tuple[Collection, ...]) -> tuple[list[str], list[str]]:
    """Vacuum and analyse what needs it: the tables of the chosen collections, and those that all share."""
    others = {t for c in every if c not in chosen for t in (c.document_table, c.chunk_table)}
    vacuumed: list[str] = []
    analysed: list[str] = []
    for row in link.rows(TABLES, dead=DEAD, changed=CHANGED):
        if row["name"] in others:
            continue
        link.rows((VACUUM if row["vacuum"] else ANALYZE).fill(table=row["name"]))
        (vacuumed if row["vacuum"] else analysed).append(row["name"])
    return vacuumed, analysed
