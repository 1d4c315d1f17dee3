# Generated from src/pgbraid/_async/catalog.py by scripts/async_to_sync.py. Change that file, not this one.

"""The catalogue:

embedders, collections and their tables, and everything that a question needs to know before it is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from pgbraid._sync import indexes
from pgbraid._sync.link import Call, Link, Row
from pgbraid.db.statements import Statement, statement
from pgbraid.errors import AlreadyExists, CatalogError, NoSuchCollection, NoSuchEmbedder, SettingsError
from pgbraid.languages import text_config_of
from pgbraid.lexical import QuestionWord
from pgbraid.plan import with_options
from pgbraid.route import RouteMatch
from pgbraid.selectors import RULES, Ready, Selector
from pgbraid.spec import check_spec, default_chunking
from pgbraid.values import Chunking, Collection, CollectionSpec, EmbedderRecord, Profile, VectorIndex

COLLECTIONS = statement("catalog/collections")
EMBEDDERS = statement("catalog/embedders")
ALIASES = statement("catalog/aliases")
PROFILES = statement("catalog/profiles")
MATCHES = statement("route/matches")
SELECTORS = statement("route/selectors")
QUESTION_WORDS = statement("lexical/question_words")
CREATE_EMBEDDER = statement("catalog/create_embedder")
DROP_EMBEDDER = statement("catalog/drop_embedder")
CREATE_COLLECTION = statement("catalog/create_collection")
NAME_TABLES = statement("catalog/name_tables")
ALTER_COLLECTION = statement("catalog/alter_collection")
DROP_COLLECTION = statement("catalog/drop_collection")
DETACH_DOCUMENT_TABLE = statement("catalog/detach_document_table")
DROP_TABLE = statement("catalog/drop_table")
LOCK_COLLECTION = statement("catalog/lock_collection")
CREATE_DOCUMENT_TABLE = statement("catalog/create_document_table")
CREATE_CHUNK_TABLE = statement("catalog/create_chunk_table")
CREATE_WORDS_INDEX = statement("catalog/create_words_index")
CREATE_METADATA_INDEX = statement("catalog/create_metadata_index")
REFUSE_TENANTS = statement("catalog/refuse_tenants")
ENABLE_ROW_SECURITY = statement("catalog/enable_row_security")
CREATE_TENANT_POLICY = statement("catalog/create_tenant_policy")
CREATE_UPKEEP_POLICY = statement("catalog/create_upkeep_policy")


@dataclass(frozen=True, slots=True)
class Lookup:
    """What one round trip tells about a question before it is decided."""

    collections: tuple[Collection, ...]
    routes: tuple[RouteMatch, ...]
    policy: str
    aliases: Mapping[str, str]
    profiles: Mapping[str, Profile]
    words: tuple[QuestionWord, ...]
    selectors: tuple[Ready, ...] = (RULES,)


def look_up(link: Link, question: str, tenant: str = "") -> Lookup:
    """Everything that deciding and planning a search needs, in one round trip."""
    calls: list[Call] = [
        (COLLECTIONS, {}),
        (MATCHES, {"question": question}),
        (ALIASES, {}),
        (PROFILES, {}),
        (QUESTION_WORDS, {"question": question, "collections": None}),
        (SELECTORS, {}),
    ]
    collections, routes, aliases, profiles, words, selectors = link.read(calls, tenant)
    return Lookup(
        collections=tuple(map(_collection, collections)),
        routes=tuple(_route(row) for row in routes if row["name"] is not None),
        policy=routes[0]["policy"] if routes else "all",
        aliases={row["alias"]: row["collection"] for row in aliases},
        profiles={row["name"]: with_options(Profile(name=row["name"]), row["settings"]) for row in profiles},
        words=tuple(QuestionWord(**row) for row in words),
        selectors=tuple(map(ready, selectors)) or (RULES,),
    )


def collections(link: Link) -> tuple[Collection, ...]:
    """Every collection that this role may read."""
    return tuple(map(_collection, (link.read([(COLLECTIONS, {})]))[0]))


def collection(link: Link, name: str) -> Collection:
    """The collection of that name. Raises NoSuchCollection."""
    every = collections(link)
    for known in every:
        if known.name == name:
            return known
    raise NoSuchCollection(name, [c.name for c in every])


def embedders(link: Link) -> tuple[EmbedderRecord, ...]:
    """Every embedder of the catalogue."""
    return tuple(_embedder(row, row["name"], row["id"]) for row in (link.read([(EMBEDDERS, {})]))[0])


def embedder(link: Link, name: str) -> EmbedderRecord:
    """The embedder of that name. Raises NoSuchEmbedder."""
    every = embedders(link)
    for known in every:
        if known.name == name:
            return known
    raise NoSuchEmbedder(name, [e.name for e in every])


def add_embedder(link: Link, record: EmbedderRecord) -> EmbedderRecord:
    """Register an embedder. Raises AlreadyExists when the name is taken."""
    with link.writing():
        rows = link.rows(
            CREATE_EMBEDDER,
            name=record.name,
            kind=record.kind,
            model=record.model,
            dimensions=record.dimensions,
            metric=record.metric,
            query_prefix=record.query_prefix,
            document_prefix=record.document_prefix,
            max_tokens=record.max_tokens,
            fingerprint=record.fingerprint,
            options=Jsonb(dict(record.options)),
        )
    if not rows:
        raise AlreadyExists(f"There is an embedder {record.name!r} already. Choose another name, or drop that one.")
    return embedder(link, record.name)


def drop_embedder(link: Link, name: str) -> None:
    """Forget an embedder. Raises NoSuchEmbedder, or CatalogError while a collection uses it."""
    with link.writing():
        rows = link.rows(DROP_EMBEDDER, name=name)
    if not rows:
        embedder(link, name)
        users = [c.name for c in collections(link) if c.embedder.name == name]
        raise CatalogError(
            f"Embedder {name!r} is used by {', '.join(users) or 'a selector or the classifier'}: drop that first."
        )


def create(link: Link, spec: CollectionSpec) -> Collection:
    """Make a collection: its row, its two tables, their indexes and row policies, in one transaction."""
    record = embedder(link, spec.embedder)
    chunking = spec.chunking or default_chunking(record)
    check_spec(spec, record, chunking)
    with link.writing():
        rows = link.rows(
            CREATE_COLLECTION,
            name=spec.name,
            description=spec.description,
            language=spec.language,
            text_config=text_config_of(spec.language),
            embedder=spec.embedder,
            chunk_tokens=chunking.tokens,
            chunk_overlap=chunking.overlap,
            index_storage=spec.index.storage,
            index_m=spec.index.m,
            index_ef_construction=spec.index.ef_construction,
            ef_search=spec.index.ef_search,
            exact_below=spec.index.exact_below,
            k1=spec.k1,
            b=spec.b,
            tenants=spec.tenants,
        )
        if not rows:
            raise AlreadyExists(f"There is a collection {spec.name!r} already. Choose another name, or drop that one.")
        _make_tables(link, rows[0]["id"], record, spec)
    return collection(link, spec.name)


def _make_tables(link: Link, collection_id: int, record: EmbedderRecord, spec: CollectionSpec) -> None:
    documents, chunks = f"document_{collection_id}", f"chunk_{collection_id}"
    schema = link.facts.vector_schema
    guards = (ENABLE_ROW_SECURITY, CREATE_TENANT_POLICY, CREATE_UPKEEP_POLICY) if spec.tenants else (REFUSE_TENANTS,)
    made: list[Statement] = [
        CREATE_DOCUMENT_TABLE.fill(table=documents, collection=collection_id),
        CREATE_CHUNK_TABLE.fill(table=chunks, collection=collection_id, ext=schema, dim=record.dimensions),
        CREATE_WORDS_INDEX.fill(index=f"{chunks}_words_gin", table=chunks),
        CREATE_METADATA_INDEX.fill(index=f"{chunks}_metadata_gin", table=chunks),
        indexes.creation(indexes.CREATE_VECTOR_INDEX, chunks, schema, record, spec.index),
    ]
    for table in (documents, chunks):
        made += [guard.fill(table=table) for guard in guards]
    for one in made:
        link.rows(one)
    link.rows(NAME_TABLES, collection_id=collection_id, document_table=documents, chunk_table=chunks)


def alter(link: Link, name: str, changes: Mapping[str, Any]) -> Collection:
    """Change a collection's name, description, ef_search or exact_below. Raises NoSuchCollection, AlreadyExists."""
    known = {"new_name", "description", "ef_search", "exact_below"}
    if unknown := changes.keys() - known:
        raise SettingsError(f"Cannot alter {sorted(unknown)}: only {sorted(known)} change in place")
    current = collection(link, name)
    new_name = changes.get("new_name")
    if new_name and new_name != name and new_name in [c.name for c in collections(link)]:
        raise AlreadyExists(f"There is a collection {new_name!r} already.")
    with link.writing():
        link.rows(ALTER_COLLECTION, name=name, **{key: changes.get(key) for key in known})
    return collection(link, new_name or current.name)


def drop(link: Link, name: str) -> None:
    """Drop a collection with its documents, words and tables."""
    known = collection(link, name)
    with link.writing():
        link.rows(LOCK_COLLECTION, collection_id=known.id)
        link.rows(DROP_TABLE.fill(table=known.chunk_table))
        link.rows(DETACH_DOCUMENT_TABLE.fill(table=known.document_table))
        link.rows(DROP_TABLE.fill(table=known.document_table))
        link.rows(DROP_COLLECTION, collection_id=known.id)


def _route(row: Row) -> RouteMatch:
    return RouteMatch(
        name=row["name"],
        priority=row["priority"],
        profile=row["profile"],
        collections=tuple(row["collections"]),
        matched=bool(row["matched"]),
        patterns=tuple(row["patterns"] or ()),
        is_default=bool(row["is_default"]),
    )


def ready(row: Row) -> Ready:
    """A selector of the chain, from its row."""
    if row["embedder"] is None:
        return Ready(Selector(row["kind"], **row["settings"]))
    named = None if row["kind"] == "classifier" else row["embedder"]
    query_prefix, document_prefix = row["prefixes"]
    of_model = {**row, "kind": row["embedder_kind"], "query_prefix": query_prefix, "document_prefix": document_prefix}
    record = _embedder(of_model, row["embedder"], row["embedder_id"])
    return Ready(Selector(row["kind"], embedder=named, **row["settings"]), record, row["classifier_id"])


def _embedder(row: Row, name: str, identity: int) -> EmbedderRecord:
    return EmbedderRecord(
        name=name,
        kind=row["kind"],
        model=row["model"],
        dimensions=row["dimensions"],
        metric=row["metric"],
        query_prefix=row["query_prefix"],
        document_prefix=row["document_prefix"],
        max_tokens=row["max_tokens"],
        fingerprint=row["fingerprint"],
        options=row["options"],
        id=identity,
    )


def _collection(row: Row) -> Collection:
    return Collection(
        id=row["id"],
        name=row["name"],
        description=row["description"],
        language=row["language"],
        text_config=row["text_config"],
        embedder=_embedder(row, row["embedder"], row["embedder_id"]),
        chunking=Chunking(row["chunk_tokens"], row["chunk_overlap"]),
        index=VectorIndex(
            row["index_storage"], row["index_m"], row["index_ef_construction"], row["ef_search"], row["exact_below"]
        ),
        k1=row["k1"],
        b=row["b"],
        tenants=row["tenants"],
        document_table=row["document_table"],
        chunk_table=row["chunk_table"],
        documents=row["documents"],
        chunks=row["chunks"],
        average_length=row["average_length"],
        revision=row["revision"],
    )


def names(found: Sequence[Collection]) -> tuple[str, ...]:
    """The names of collections, in order."""
    return tuple(c.name for c in found)
