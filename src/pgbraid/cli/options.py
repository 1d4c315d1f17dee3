"""Options that many commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        metavar="DSN",
        help="The database; else PGBRAID_DSN or DATABASE_URL, else the embedded server.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Tenant = Annotated[str, typer.Option("--tenant", metavar="TENANT", help="Whose documents.", show_default=False)]
Directory = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", help="The embedded server's directory.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
CollectionName = Annotated[str, typer.Argument(metavar="COLLECTION", show_default=False)]
Question = Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)]
Collections = Annotated[
    list[str] | None,
    typer.Option("--collection", "-c", metavar="NAME", help="Ask this one (again for more); else routes decide."),
]
