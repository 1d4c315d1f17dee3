"""`route …`: who would be asked, and the classifier that may decide it. `route QUESTION` is short for `route ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, Collections, Dsn, Question, Tenant
from pgbraid.cli.output import facts, note, print_json, table

if TYPE_CHECKING:
    from pgbraid._sync.train import Version


class _AskByDefault(TyperGroup):
    """A group where what is no command is a question."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["ask", *args]
        return super().parse_args(ctx, args)


group = typer.Typer(
    cls=_AskByDefault,
    help="Say who would be asked (`route QUESTION`), and look after the classifier that may decide it.",
    no_args_is_help=True,
)
VersionNumber = Annotated[int, typer.Argument(metavar="VERSION", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="route", rich_help_panel="Ask")


@command(group)
def ask(
    question: Question, collection: Collections = None, tenant: Tenant = "", dsn: Dsn = None, as_json: AsJson = False
) -> None:
    """Only decide: say which collections would be asked, and why. Retrieves nothing."""
    with opened(dsn) as braid:
        decision = braid.route(question, collections=collection or (), tenant=tenant)
    if as_json:
        print_json(decision)
        return
    from pgbraid.cli.show import print_decision

    print_decision(question, decision)


@command(group)
def train(
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Labelled questions; else the examples of the routes."),
    ] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="NAME", help="Else the chain's.")] = None,
    balanced: Annotated[bool, typer.Option("--balanced", help="Every route counts as much.")] = False,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Learn a classifier of questions and store it as a new version, which decides once it is activated."""
    from pgbraid.measure.labelled import read_labelled

    labelled = read_labelled(labels) if labels else ()
    with opened(dsn) as braid:
        version = braid.train_classifier(labelled, embedder=embedder, balanced=balanced)
    if as_json:
        print_json({**_object(version)})
        return
    facts({"version": version.id, "embedder": version.embedder, **_shown(version.report)})
    note(f"version {version.id} is stored; `pgbraid route activate {version.id}` lets it decide")


@command(group)
def activate(version: VersionNumber, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Let a version of the classifier decide from now on, where the chain of selectors asks it."""
    with opened(dsn) as braid:
        active = braid.activate_classifier(version)
    if active is not None:
        print_json(_object(active)) if as_json else note(f"version {active.id} decides")


@command(group)
def back(dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Let the version of the classifier decide again that did before the active one."""
    with opened(dsn) as braid:
        active = braid.activate_classifier(None)
    if as_json:
        print_json(None if active is None else _object(active))
    else:
        note("no version decides any more" if active is None else f"version {active.id} decides again")


@command(group)
def versions(dsn: Dsn = None, as_json: AsJson = False) -> None:
    """List the versions of the classifier with what they achieved on questions held out."""
    with opened(dsn) as braid:
        found = braid.classifiers()
    if as_json:
        print_json([_object(version) for version in found])
        return
    columns = ("version", "active", "learned", "embedder", "routes", "questions", "accuracy")
    table(columns, map(_row, found), numbers=("version", "routes", "questions", "accuracy"))


def _row(version: Version) -> tuple[object, ...]:
    report = version.report
    good = (report["routes"], report["questions"], f"{report['accuracy']:.4f}")
    mark = "●" if version.active else ""
    return version.id, mark, f"{version.learned_at:%Y-%m-%d %H:%M}", version.embedder, *good


def _object(version: Version) -> dict[str, Any]:
    return {
        "version": version.id,
        "embedder": version.embedder,
        "learned_at": version.learned_at,
        "active": version.active,
        "report": version.report,
    }


def _shown(report: dict[str, Any]) -> dict[str, object]:
    """A report for people; numbers have four digits."""
    compared = report["compared"]
    shown = {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in report.items() if k != "compared"}
    if compared:
        shown["compared"] = (
            f"{compared['accuracy']:.4f}, and version {compared['version']} {compared['accuracy_before']:.4f}, "
            f"on {compared['questions']} questions new to both"
        )
    return shown
