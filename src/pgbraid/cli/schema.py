"""`schema upgrade|check|sql|downgrade`: the tables of pgbraid in a database."""

from __future__ import annotations

from typing import Annotated

import typer

from pgbraid.cli.door import command, confirm, target
from pgbraid.cli.options import AsJson, Dsn, Yes
from pgbraid.cli.output import facts, note, plain, print_json

group = typer.Typer(help="The tables of pgbraid: make, check, read, take back.", no_args_is_help=True)


@command(group)
def upgrade(
    revision: Annotated[str, typer.Argument(metavar="[REVISION]")] = "head", dsn: Dsn = None, as_json: AsJson = False
) -> None:
    """Bring the tables to a revision, the newest one if none is named."""
    from pgbraid import schema

    version = schema.upgrade(target(dsn), revision)
    print_json({"schema": version}) if as_json else note(f"the schema is at {version}")


@command(group)
def check(dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Say whether the database is ready for this version of pgbraid; the exit code is 5 when it is not."""
    from pgbraid import schema

    state = schema.check(target(dsn))
    print_json(state) if as_json else facts(plain(state) | {"warnings": " ".join(state.warnings) or "none"})


@command(group, "sql")
def script(
    start: Annotated[str, typer.Option("--from", help="The revision that the database is at.")] = "base",
    to: Annotated[str, typer.Option("--to", help="The revision that is wanted.")] = "head",
    vector_schema: Annotated[str, typer.Option("--vector-schema", help="The schema that pgvector is in.")] = "public",
    as_json: AsJson = False,
) -> None:
    """Print what `upgrade` would run, for a DBA. Needs no database."""
    from pgbraid import schema

    text = schema.sql(start, to, vector_schema)
    print_json({"from": start, "to": to, "sql": text}) if as_json else typer.echo(text, nl=False)


@command(group)
def downgrade(
    revision: Annotated[str, typer.Argument(show_default=False)],
    yes: Yes = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Take the tables back to an older revision, `base` for none; what they hold is lost."""
    from pgbraid import schema

    confirm(f"Go back to {revision}? What the newer tables hold is lost.", yes, as_json)
    version = schema.downgrade(target(dsn), revision)
    print_json({"schema": version}) if as_json else note(f"the schema is at {version}")
