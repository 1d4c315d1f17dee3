"""`eval run`, `eval diff` and `tune`: judged questions asked, runs compared, settings fitted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgbraid.cli.door import command, opened
from pgbraid.cli.options import AsJson, CollectionName, Dsn
from pgbraid.cli.output import facts, note, plain, print_json, table
from pgbraid.errors import SettingsError, UnknownOption, nearest

if TYPE_CHECKING:
    from pgbraid._sync.braid import Braid
    from pgbraid.measure.values import Judged, Kept

group = typer.Typer(help="Measure answers on judged questions.", no_args_is_help=True)
MODES: dict[str, dict[str, Any]] = {
    "lexical": {"dense_weight": 0.0, "lexical_weight": 1.0},
    "dense": {"dense_weight": 1.0, "lexical_weight": 0.0},
    "hybrid": {},
    "rrf": {"fusion": "rrf", "rrf_k": 60, "dense_weight": 1.0, "lexical_weight": 1.0},
}
Data = Annotated[Path, typer.Option("--data", metavar="PATH", help="BEIR folder, CSV, or TREC qrels.", exists=True)]
Questions = Annotated[
    Path | None, typer.Option("--questions", metavar="FILE", help="For TREC qrels: questions as JSON lines.")
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Only the first N judged questions.")]
EVERY = 1_000_000


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="eval", rich_help_panel="Measure")
    command(app, "tune", rich_help_panel="Measure")(tune)


@command(group)
def run(
    collection: CollectionName,
    data: Data,
    questions: Questions = None,
    mode: Annotated[
        list[str] | None, typer.Option("--mode", metavar="MODE", help="lexical, dense, hybrid or rrf; again for more.")
    ] = None,
    limit: Limit = EVERY,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Keep the runs for `eval diff`.")] = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Ask every judged question; nDCG@10, recall, reciprocal rank, precision, and the time of retrieving."""
    from pgbraid.measure.judgements import read_judgements
    from pgbraid.measure.kept import save as save_runs

    for one in mode or ():
        if one not in MODES:
            raise UnknownOption(f"There is no mode {one!r}. {nearest(one, MODES)}")
    judged = read_judgements(data, questions)[:limit]
    with opened(dsn) as braid:
        runs = [_ask(braid, collection, one, judged) for one in mode or MODES]
    if save:
        save_runs(runs, save)
    _print_runs(runs, as_json)


def _ask(braid: Braid, collection: str, mode: str, judged: list[Judged]) -> Kept:
    from pgbraid.measure.values import Answered, Kept

    answers = {}
    for one in judged:
        asked: dict[str, Any] = {"collections": collection, "filter": one.filter, "top_k": 10, "rerank": False}
        result = braid.search(one.text, **asked, **MODES[mode])
        answers[one.id] = Answered(tuple(p.external_id for p in result.passages), dict(result.trace.milliseconds))
    grades, texts = {one.id: one.grades for one in judged}, {one.id: one.text for one in judged}
    return Kept(collection, mode, MODES[mode], answers, grades, texts)


def _print_runs(runs: list[Kept], as_json: bool) -> None:
    from pgbraid.measure.kept import percentile, scores_of
    from pgbraid.measure.scores import MEASURES, mean

    rows = []
    for one in runs:
        row: dict[str, Any] = {"collection": one.collection, "mode": one.mode, "questions": len(one.answers)}
        row |= {name: round(mean(scores_of(one, name)), 4) for name in MEASURES}
        row |= {f"retrieve p{share} ms": round(percentile(one, "retrieve", share / 100), 2) for share in (50, 95)}
        rows.append(row)
    if as_json:
        print_json(rows)
    else:
        shown = [{key.removeprefix("retrieve "): value for key, value in row.items()} for row in rows]
        columns = [key for key in shown[0] if key != "collection"]
        table(columns, [[row[key] for key in columns] for row in shown], numbers=columns[1:])


@command(group)
def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A file of runs.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another.", show_default=False)],
    measure: Annotated[str, typer.Option("--measure", metavar="NAME", help="Of ir-measures.")] = "nDCG@10",
    as_json: AsJson = False,
) -> None:
    """Compare two files of runs, mode by mode: the difference, its interval, and whether it is more than chance."""
    from pgbraid.measure.compare import SMALL, compare
    from pgbraid.measure.kept import load, scores_of

    before = {(one.collection, one.mode): one for one in load(first)}
    after = {(one.collection, one.mode): one for one in load(second)}
    common = [key for key in before if key in after]
    if not common:
        raise SettingsError(f"{first} and {second} have no collection and mode in common: nothing to compare")
    done = {"/".join(k): compare(scores_of(before[k], measure), scores_of(after[k], measure)) for k in common}
    if as_json:
        print_json({name: {**plain(c), "wins": c.wins, "losses": c.losses} for name, c in done.items()})
        return
    columns = ("run", "asked", "A", "B", "B - A", "±", "p", "won", "lost")
    rows = [
        (name, c.questions, *(f"{v:.4f}" for v in (c.a, c.b, c.difference, c.half_width, c.p_value)), c.wins, c.losses)
        for name, c in done.items()
    ]
    table(columns, rows, numbers=columns[1:])
    if any(c.small for c in done.values()):
        note(f"fewer than {SMALL} questions: only large differences can be told from chance")


def tune(
    collection: CollectionName,
    data: Data,
    questions: Questions = None,
    limit: Limit = EVERY,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Propose fusion and weights, fitted to judged questions by cross-validation. Changes nothing.

    What is proposed is compared with the built-in default profile.
    """
    from pgbraid.measure.fit import fit
    from pgbraid.measure.judgements import read_judgements

    judged = read_judgements(data, questions)[:limit]
    with opened(dsn) as braid:
        observed = {one.id: braid.observe(one.text, collections=collection, filter=one.filter) for one in judged}
    fitted = fit(observed, {one.id: one.grades for one in judged})
    if as_json:
        print_json(fitted)
        return
    facts(_proposal(fitted))
    if fitted.guarded:
        note("fusing was no better than the better branch on questions held out: that branch alone is proposed")
    if fitted.gain.small:
        note("few questions: the gain is hardly told from chance")


def _proposal(fitted: Any) -> Mapping[str, object]:
    chosen = {key: getattr(fitted.profile, key) for key in ("fusion", "rrf_k", "dense_weight", "lexical_weight")}
    scores = {name: f"{getattr(fitted, name):.4f}" for name in ("held_out", "current", "lexical", "dense", "rrf")}
    gain = f"{fitted.gain.difference:+.4f} ± {fitted.gain.half_width:.4f} (p = {fitted.gain.p_value:.3f})"
    return {"questions": fitted.questions, **scores, "gain": gain, **chosen}
