"""`collection create|list|show|alter|drop`: the knowledge bases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgbraid.cli.door import command, confirm, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn, Yes
from pgbraid.cli.output import facts, note, print_json, table

if TYPE_CHECKING:
    from pgbraid.values import Collection

group = typer.Typer(help="Knowledge bases: make, look, change, drop.", no_args_is_help=True)
Description = Annotated[str | None, typer.Option("--description", show_default=False)]
EfSearch = Annotated[int | None, typer.Option("--ef-search", min=1, max=1000, help="Breadth of index scans.")]
ExactBelow = Annotated[int | None, typer.Option("--exact-below", min=0, help="Up to so many chunks, compare all.")]


@command(group)
def create(
    name: CollectionName,
    embedder: Annotated[str, typer.Option("--embedder", help="Its embedder.", show_default=False)],
    description: Description = None,
    language: Annotated[str, typer.Option("--language", help="english, multilingual, zh, …")] = "multilingual",
    tokens: Annotated[int | None, typer.Option("--tokens", min=8, max=8192, help="Of a chunk, at most.")] = None,
    overlap: Annotated[int | None, typer.Option("--overlap", min=0, help="Tokens that neighbours share.")] = None,
    storage: Annotated[str | None, typer.Option("--storage", help="In the index: halfvec or vector.")] = None,
    m: Annotated[int | None, typer.Option("--m", min=2, max=100, help="Of the HNSW index.")] = None,
    ef_construction: Annotated[int | None, typer.Option("--ef-construction", min=4, max=1000)] = None,
    ef_search: EfSearch = None,
    exact_below: ExactBelow = None,
    k1: Annotated[float | None, typer.Option("--k1", min=0, max=10, help="Of BM25.")] = None,
    b: Annotated[float | None, typer.Option("--b", min=0, max=1, help="Of BM25.")] = None,
    tenants: Annotated[bool, typer.Option("--tenants", help="Keep tenants apart by row policies.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Make a collection."""
    from pgbraid.changes import spec_of

    settings: dict[str, Any] = {
        "embedder": embedder, "language": language, "description": description, "k1": k1, "b": b,
        "tenants": tenants or None,
        "chunking.tokens": tokens, "chunking.overlap": overlap, "index.storage": storage, "index.m": m,
        "index.ef_construction": ef_construction, "index.ef_search": ef_search, "index.exact_below": exact_below,
    }  # fmt: skip
    with opened(dsn) as braid:
        made = braid.create_collection(spec_of(name, {k: v for k, v in settings.items() if v is not None}))
    print_json(_object(made)) if as_json else note(f"collection {made.name} is made")


@command(group, "list")
def every(dsn: Dsn = None, as_json: AsJson = False) -> None:
    """List the collections that this role may read."""
    with opened(dsn) as braid:
        found = braid.collections()
    if as_json:
        print_json([_object(c) for c in found])
        return
    columns = ("collection", "documents", "chunks", "language", "embedder", "description")
    table(
        columns,
        [(c.name, f"{c.documents:,}", f"{c.chunks:,}", c.language, c.embedder.name, c.description) for c in found],
        numbers=("documents", "chunks"),
    )


@command(group)
def show(name: CollectionName, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Show everything about a collection."""
    with opened(dsn) as braid:
        found = braid.collection(name)
    print_json(_object(found)) if as_json else facts(_flat(found))


@command(group)
def alter(
    name: CollectionName,
    rename: Annotated[str | None, typer.Option("--rename", help="Its new name.", show_default=False)] = None,
    description: Description = None,
    ef_search: EfSearch = None,
    exact_below: ExactBelow = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Change what can change in place."""
    changes = {"new_name": rename, "description": description, "ef_search": ef_search, "exact_below": exact_below}
    with opened(dsn) as braid:
        altered = braid.alter_collection(name, **{k: v for k, v in changes.items() if v is not None})
    print_json(_object(altered)) if as_json else facts(_flat(altered))


@command(group)
def drop(name: CollectionName, yes: Yes = False, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Drop a collection with all its documents."""
    with opened(dsn) as braid:
        found = braid.collection(name)
        confirm(f"Drop collection {name} with its {found.documents:,} documents?", yes, as_json)
        braid.drop_collection(name)
    print_json({"dropped": name, "documents": found.documents}) if as_json else note(f"collection {name} is dropped")


def _object(collection: Collection) -> dict[str, Any]:
    from pgbraid.cli.output import plain

    return {**plain(collection), "embedder": collection.embedder.name}


def _flat(collection: Collection) -> dict[str, Any]:
    embedder = collection.embedder
    own = _object(collection) | {"embedder": f"{embedder.name}: {embedder.kind} {embedder.model}"}
    chunking, index = own.pop("chunking"), own.pop("index")
    own["average_length"] = f"{collection.average_length:.1f} words in a chunk"
    own["chunking"] = f"{chunking['tokens']} tokens, {chunking['overlap']} shared by neighbours"
    return own | {"index": ", ".join(f"{key} {value}" for key, value in index.items())}
