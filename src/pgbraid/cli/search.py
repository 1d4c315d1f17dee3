"""`search` and `explain`: questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Collections, Dsn, Question, Tenant
from pgbraid.cli.output import note, print_json
from pgbraid.errors import PgbraidError, SettingsError

if TYPE_CHECKING:
    from pgbraid.explained import Explanation

TopK = Annotated[int | None, typer.Option("--top-k", "-k", metavar="N", help="Passages wanted.")]
Filter = Annotated[str | None, typer.Option("--filter", metavar="JSON", help='Of metadata: {"year": {"gte": 2024}}')]
ProfileName = Annotated[str | None, typer.Option("--profile", metavar="NAME", help="How to retrieve.")]
RerankerName = Annotated[str | None, typer.Option("--rerank", metavar="RERANKER", help="As maxsim:EMBEDDER.")]
NoRerank = Annotated[bool, typer.Option("--no-rerank", help="Leave the order of the fusion.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "search", rich_help_panel="Ask")(search)
    command(app, "explain", rich_help_panel="Ask")(explain)


def search(
    question: Question,
    collection: Collections = None,
    top_k: TopK = None,
    filter: Filter = None,
    tenant: Tenant = "",
    profile: ProfileName = None,
    rerank: RerankerName = None,
    no_rerank: NoRerank = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score came about.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question with whole documents."""
    asked = asked_of(collection, top_k, filter, tenant, profile, rerank, no_rerank)
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


def asked_of(
    collection: list[str] | None,
    top_k: int | None,
    filter: str | None,
    tenant: str,
    profile: str | None,
    rerank: str | None,
    no_rerank: bool,
) -> dict[str, Any]:
    """The arguments of `Braid.search` from the options of a command."""
    if rerank and no_rerank:
        raise SettingsError("--rerank and --no-rerank exclude each other")
    return {
        "collections": collection or (),
        "top_k": top_k,
        "filter": filter,
        "tenant": tenant,
        "profile": profile,
        "rerank": False if no_rerank else rerank,
    }


def explain(
    question: Question,
    collection: Collections = None,
    top_k: TopK = None,
    filter: Filter = None,
    tenant: Tenant = "",
    profile: ProfileName = None,
    rerank: RerankerName = None,
    no_rerank: NoRerank = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page to look at.", show_default=False)
    ] = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question and show how: decision, branches, scores, the statement and its plan with buffers."""
    asked = asked_of(collection, top_k, filter, tenant, profile, rerank, no_rerank)
    with opened(dsn) as braid:
        explanation = braid.explain(question, **asked)
    if html is not None:
        _write_page(html, explanation)
    if as_json:
        print_json(explanation)
    elif html is None:
        from pgbraid.cli.explain import print_branches, print_explanation

        print_explanation(explanation.result)
        print_branches(explanation)


def _write_page(path: Path, explanation: Explanation) -> None:
    from pgbraid.cli.page import page

    try:
        path.write_text(page(explanation), encoding="utf-8", errors="replace")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error}") from error
    note(f"written: {path}")


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
