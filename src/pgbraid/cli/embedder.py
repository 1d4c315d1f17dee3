"""`embedder add|list|drop`: the models that turn texts into vectors."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Dsn
from pgbraid.cli.output import facts, note, plain, print_json, table
from pgbraid.errors import SettingsError

group = typer.Typer(help="Models that turn texts into vectors.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="EMBEDDER", show_default=False)]


@command(group)
def add(
    name: Name,
    model: Annotated[str, typer.Argument(help="A path, wheel:PACKAGE/folder, a hub name, …", show_default=False)],
    kind: Annotated[str, typer.Option("--kind", help="transformers, openai, use or hashing.")] = "transformers",
    dimensions: Annotated[int, typer.Option("--dimensions", min=0, help="0: as the model has.")] = 0,
    metric: Annotated[str, typer.Option("--metric", help="cosine, ip or l2.")] = "cosine",
    query_prefix: Annotated[str, typer.Option("--query-prefix", help="Set before every question.")] = "",
    document_prefix: Annotated[str, typer.Option("--document-prefix", help="Set before every chunk.")] = "",
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=0, help="0: as the model reads.")] = 0,
    option: Annotated[list[str] | None, typer.Option("--option", metavar="KEY=JSON", help="Of its kind.")] = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Register an embedder; loads the model once, to learn what it is."""
    from pgbraid.values import EmbedderRecord

    if metric not in ("cosine", "ip", "l2"):
        raise SettingsError(f"--metric is cosine, ip or l2, not {metric!r}")
    record = EmbedderRecord(
        name=name,
        kind=kind,
        model=model,
        dimensions=dimensions,
        metric=metric,  # type: ignore[arg-type]
        query_prefix=query_prefix,
        document_prefix=document_prefix,
        max_tokens=max_tokens,
        options=_options(option or []),
    )
    with opened(dsn) as braid:
        added = braid.add_embedder(record)
    print_json(added) if as_json else facts(plain(added))


def _options(given: list[str]) -> dict[str, Any]:
    """KEY=VALUE pairs; a value that is no JSON is text."""
    found: dict[str, Any] = {}
    for pair in given:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise SettingsError(f"--option is KEY=VALUE, not {pair!r}")
        try:
            found[key] = json.loads(text)
        except ValueError:
            found[key] = text
    return found


@command(group, "list")
def every(dsn: Dsn = None, as_json: AsJson = False) -> None:
    """List the embedders."""
    with opened(dsn) as braid:
        found = braid.embedders()
    if as_json:
        print_json(found)
        return
    columns = ("embedder", "kind", "model", "dimensions", "metric", "reads")
    rows = [(e.name, e.kind, e.model, e.dimensions, e.metric, f"{e.max_tokens:,} tokens") for e in found]
    table(columns, rows, numbers=("dimensions",))


@command(group)
def drop(name: Name, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Forget an embedder that no collection uses."""
    with opened(dsn) as braid:
        braid.drop_embedder(name)
    print_json({"dropped": name}) if as_json else note(f"embedder {name} is forgotten")
