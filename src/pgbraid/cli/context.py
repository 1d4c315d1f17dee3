"""`context`: what a language model reads to answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Collections, Dsn, Question, Tenant
from pgbraid.cli.output import note, plain, print_json, tame
from pgbraid.cli.search import Filter, NoRerank, ProfileName, RerankerName, TopK, asked_of
from pgbraid.errors import PgbraidError, SettingsError

if TYPE_CHECKING:
    from pgbraid.context import Context

MODES = ("tool_role", "system_prompt")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "context", rich_help_panel="Ask")(context)


def context(
    question: Question,
    tokens: Annotated[
        int, typer.Option("--tokens", metavar="N", help="Room for sources and the words around them.")
    ] = 2000,
    whole: Annotated[bool, typer.Option("--whole", help="Whole documents, not the parts that matched.")] = False,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="With --json, messages for a chat: tool_role or system_prompt."),
    ] = None,
    collection: Collections = None,
    top_k: TopK = None,
    filter: Filter = None,
    tenant: Tenant = "",
    profile: ProfileName = None,
    rerank: RerankerName = None,
    no_rerank: NoRerank = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """What a language model reads to answer a question: sources within a budget, with marks to cite them by."""
    if mode is not None and (mode not in MODES or not as_json):
        raise SettingsError(f"--mode is tool_role or system_prompt and needs --json, not {mode!r}")
    asked = asked_of(collection, top_k, filter, tenant, profile, rerank, no_rerank)
    asked |= {"tokens": tokens, "whole": whole}
    if as_json:
        _as_json(question, mode, asked, dsn)
        return
    from pgbraid.context import told

    with opened(dsn) as braid:
        packed = braid.context(question, **asked)
    typer.echo(tame(told(packed)))
    _tell(packed)


def _tell(packed: Context) -> None:
    """What the model does not read, for the person: where the sources are from, and what was not as it should be."""
    for source in packed.sources:
        note(f"[{source.mark}] {source.collection}/{source.external_id}, characters {source.start}–{source.end}")
    counted = {"repeated": packed.duplicates, "left out": packed.left_out, "shortened": packed.shortened}
    note(", ".join([f"{packed.tokens} tokens", *(f"{n} {what}" for what, n in counted.items() if n)]))
    for failure in packed.result.failures:
        note(f"degraded: {failure.part}: {failure.reason}")


def _as_json(question: str, mode: str | None, asked: dict[str, Any], dsn: str | None) -> None:
    """One object, also when the search fails."""
    from pgbraid.cli.objects import failed_object, result_object
    from pgbraid.context import inject, told

    try:
        with opened(dsn) as braid:
            packed = braid.context(question, **asked)
    except PgbraidError as error:
        print_json(failed_object(question, error))
        raise typer.Exit(error.exit_code) from None
    found = plain(packed) | {"result": result_object(packed.result), "text": told(packed)}
    if mode is not None:
        chat = [{"role": "user", "content": packed.question}]
        found["messages"] = inject(packed, chat, mode)  # type: ignore[arg-type]
    print_json(found)
