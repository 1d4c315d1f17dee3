"""`document show|delete`: single documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn, Tenant
from pgbraid.cli.output import console, facts, note, print_json, tame
from pgbraid.errors import CatalogError

group = typer.Typer(help="Single documents: look, delete.", no_args_is_help=True)


@command(group)
def show(
    collection: CollectionName,
    external_id: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    tenant: Tenant = "",
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Show a document and its chunks."""
    with opened(dsn) as braid:
        found = braid.document(collection, external_id, tenant=tenant)
    if found is None:
        raise CatalogError(_missing(collection, [external_id], tenant))
    print_json(found) if as_json else _print(found)


def _print(document: dict[str, Any]) -> None:
    shown = {key: document[key] for key in ("external_id", "title", "metadata", "created_at", "updated_at")}
    facts(shown | {"chunks": len(document["chunks"])})
    out = console()
    out.print()
    out.print(tame(document["text"]), soft_wrap=True)
    for chunk in document["chunks"]:
        out.print()
        path = " › ".join(chunk["headings"])
        out.rule(f"chunk {chunk['ordinal']}, {chunk['start']}–{chunk['end']}  {tame(path)}".rstrip(), align="left")
        out.print(tame(chunk["text"]), style="dim", soft_wrap=True)


@command(group)
def delete(
    collection: CollectionName,
    external_ids: Annotated[list[str], typer.Argument(metavar="ID…", show_default=False)],
    tenant: Tenant = "",
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Delete documents with their chunks; the exit code is 6 when one was not there."""
    with opened(dsn) as braid:
        deleted = braid.delete(collection, external_ids, tenant=tenant)
    missing = [name for name in dict.fromkeys(external_ids) if name not in deleted]
    if as_json:
        print_json({"deleted": deleted, "missing": missing})
    else:
        note(f"deleted: {len(deleted)}")
        if missing:
            note(f"pgbraid: {_missing(collection, missing, tenant)}")
    if missing:
        raise typer.Exit(CatalogError.exit_code)


def _missing(collection: str, names: list[str], tenant: str) -> str:
    owner = f" for tenant {tenant!r}" if tenant else ""
    return f"Collection {collection!r} has no document {', '.join(map(repr, names))}{owner}."
