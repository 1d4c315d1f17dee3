"""The whole command line, put together from its groups."""

from __future__ import annotations

from typing import Annotated

import typer

from pgbraid.cli import (
    collection,
    context,
    declare,
    demo,
    doctor,
    document,
    embedder,
    ingest,
    lexical,
    maintain,
    measure,
    recall,
    rerank,
    route,
    schema,
    search,
    server,
)
from pgbraid.cli.door import GLOBAL_DSN
from pgbraid.cli.options import Dsn

app = typer.Typer(
    name="pgbraid",
    help="Ask the right knowledge bases in the PostgreSQL you already run.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from pgbraid import __version__

        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def every(
    dsn: Dsn = None,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Ask the right knowledge bases in the PostgreSQL you already run."""
    GLOBAL_DSN.set(dsn)


for part in (search, context, route, ingest, maintain, doctor, declare, measure, recall, demo, server):
    part.register(app)
for name, group in (
    ("collection", collection.group),
    ("document", document.group),
    ("embedder", embedder.group),
    ("lexical", lexical.group),
    ("rerank", rerank.group),
    ("schema", schema.group),
):
    app.add_typer(group, name=name, rich_help_panel="Look after")
