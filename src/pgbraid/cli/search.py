"""`search`: questions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Collections, Dsn, Question, Tenant
from pgbraid.cli.output import print_json
from pgbraid.errors import PgbraidError, SettingsError


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "search", rich_help_panel="Ask")(search)


def search(
    question: Question,
    collection: Collections = None,
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", metavar="N", help="Passages wanted.")] = None,
    filter: Annotated[
        str | None, typer.Option("--filter", metavar="JSON", help='Of metadata: {"year": {"gte": 2024}}')
    ] = None,
    tenant: Tenant = "",
    profile: Annotated[str | None, typer.Option("--profile", metavar="NAME", help="How to retrieve.")] = None,
    rerank: Annotated[str | None, typer.Option("--rerank", metavar="RERANKER", help="As maxsim:EMBEDDER.")] = None,
    no_rerank: Annotated[bool, typer.Option("--no-rerank", help="Leave the order of the fusion.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score came about.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question with whole documents."""
    if rerank and no_rerank:
        raise SettingsError("--rerank and --no-rerank exclude each other")
    asked: dict[str, Any] = {
        "collections": collection or (),
        "top_k": top_k,
        "filter": filter,
        "tenant": tenant,
        "profile": profile,
        "rerank": False if no_rerank else rerank,
    }
    if as_json:
        _as_json(question, asked, explain, dsn)
        return
    from pgbraid.cli.explain import print_explanation
    from pgbraid.cli.show import print_result

    with opened(dsn) as braid:
        result = braid.search(question, **asked)
    print_result(result)
    if explain:
        print_explanation(result)


def _as_json(question: str, asked: dict[str, Any], explain: bool, dsn: str | None) -> None:
    """One object, also when the search fails."""
    from pgbraid.cli.objects import failed_object, result_object

    try:
        with opened(dsn) as braid:
            found = result_object(braid.search(question, **asked))
            if explain:
                found["statement"] = braid.statement(question, **asked)
    except PgbraidError as error:
        print_json(failed_object(question, error))
        raise typer.Exit(error.exit_code) from None
    print_json(found)
