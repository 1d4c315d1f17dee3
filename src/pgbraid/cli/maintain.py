"""`maintain`: upkeep for cron."""

from __future__ import annotations

from typing import Annotated

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Dsn
from pgbraid.cli.output import facts, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "maintain", rich_help_panel="Look after")(maintain)


def maintain(
    collection: Annotated[str | None, typer.Argument(metavar="COLLECTION", show_default=False)] = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Repair indexes, vacuum and analyse what needs it, count words, forget old interrupted loads.

    For cron: safe beside searches, loads and another one of itself.
    """
    with opened(dsn) as braid:
        done = braid.maintain(collection)
    if as_json:
        return print_json(done)
    told = {"indexes": ", ".join(f"{name} {what}" for name, what in done.indexes.items())}
    told |= {name: ", ".join(getattr(done, name)) for name in ("reweighed", "busy", "vacuumed", "analysed")}
    facts(
        {name: value or "nothing" for name, value in told.items()}
        | {"old checkpoints": done.checkpoints, "old rerank scores": done.scores}
    )
