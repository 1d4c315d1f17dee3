"""`lexical refresh`: upkeep of a collection's word statistics."""

from __future__ import annotations

from typing import Annotated

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn
from pgbraid.cli.output import note, print_json

group = typer.Typer(help="Word statistics: bring them up to date.", no_args_is_help=True)


@group.callback()
def lexical() -> None:
    """Word statistics: bring them up to date."""


@command(group)
def refresh(
    collection: CollectionName,
    exact: Annotated[bool, typer.Option("--exact", help="Weigh chunks again even for the smallest change.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Fold word counts and bring stored weights up to date."""
    with opened(dsn) as braid:
        done = braid.refresh_words(collection, exact=exact)
    if as_json:
        print_json(done)
    elif not done.done:
        note("somebody else is doing this at the moment")
    else:
        weighed = "every chunk was weighed again" if done.reweighed else "the weights stay"
        note(f"words in an average chunk: {done.stored:.2f} → {done.current:.2f}; {weighed}")
