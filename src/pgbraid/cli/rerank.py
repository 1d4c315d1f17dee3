"""`rerank bench`: how fast rerankers are on this machine, and what to ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgbraid.cli.door import command
from pgbraid.cli.options import AsJson
from pgbraid.cli.output import note, plain, print_json, table, tame
from pgbraid.errors import SettingsError

if TYPE_CHECKING:
    from pgbraid.rerank.bench import Advice, Measured

group = typer.Typer(help="Rerankers: measure them on this machine.", no_args_is_help=True)


@group.callback()
def rerank() -> None:
    """Rerankers: measure them on this machine."""


@command(group)
def bench(
    rerankers: Annotated[list[str], typer.Argument(metavar="RERANKER...", help="As cross-encoder:PATH.")],
    lengths: Annotated[str, typer.Option("--lengths", help="Tokens of a pair.")] = "64,128,256",
    precisions: Annotated[str, typer.Option("--precisions", help="As fp32,bf16,int8; none: as each is.")] = "",
    every_exit: Annotated[bool, typer.Option("--every-exit", help="Each trained exit of exits:MODEL.")] = False,
    pairs: Annotated[int, typer.Option("--pairs", min=1, max=1000, help="Texts a question.")] = 30,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Turns; medians are told.")] = 5,
    budget_ms: Annotated[int, typer.Option("--budget-ms", min=1, help="What the advice shall fit.")] = 300,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="As the setting threads.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw it, too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Time rerankers on texts of some lengths, in turns, and say how many candidates fit a budget."""
    from pgbraid.rerank.bench import advise, expanded, measure

    if plot is not None and plot.suffix != ".svg":
        raise SettingsError(f"--plot writes SVG: give a file that ends in .svg, not {str(plot)!r}")
    if threads is not None:
        from pgbraid import embed

        embed.limit_threads(threads)
    named = [one.strip() for one in precisions.split(",") if one.strip()]
    measured = measure(expanded(rerankers, named, every_exit), _numbers(lengths), pairs, rounds)
    advice = advise(measured, budget_ms)
    if plot is not None:
        _draw(plot, measured)
    if as_json:
        print_json({"measured": [_row(one) for one in measured], "advice": advice})
    else:
        _show(measured, advice, budget_ms)


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise SettingsError(f"--lengths is whole numbers from 1, separated by commas, not {text!r}")
    return sorted({int(part) for part in parts})


def _row(one: Measured) -> dict[str, object]:
    return {
        **plain(one),
        "pairs_per_second": one.pairs_per_second,
        "tokens_per_second": one.tokens_per_second,
    }


COLUMNS = ("precision", "drift", "tokens", "one, ms", "all, ms", "pairs/s", "tokens/s", "fit", "need, ms")


def _show(measured: Sequence[Measured], advice: Sequence[Advice], budget_ms: int) -> None:
    """A table for each reranker: their names are long."""
    for name in dict.fromkeys(one.reranker for one in measured):
        typer.echo(tame(name))
        rows = [_cells(one, said) for one, said in zip(measured, advice, strict=True) if one.reranker == name]
        table(COLUMNS, rows, numbers=COLUMNS[1:])
    note(
        f"all: {measured[0].pairs} texts; fit: rerank_top_k that fits {budget_ms} ms; "
        f"need: rerank_budget_ms for {measured[0].pairs} texts; a fifth is kept in reserve"
    )


def _cells(one: Measured, said: Advice) -> tuple[object, ...]:
    return (
        one.precision,
        None if one.drift is None else f"{one.drift:.3f}",
        one.tokens,
        f"{one.one:.1f}",
        f"{one.milliseconds:.1f}",
        f"{one.pairs_per_second:,.0f}",
        f"{one.tokens_per_second:,.0f}",
        said.rerank_top_k,
        said.rerank_budget_ms,
    )


def _draw(path: Path, measured: Sequence[Measured]) -> None:
    from pgbraid.cli.chart import chart

    lines: dict[str, list[tuple[float, float]]] = {}
    for one in measured:
        name = f"{one.reranker} {one.precision}".strip()
        lines.setdefault(name, []).append((one.tokens, one.milliseconds))
    drawn = chart(lines, f"Reranking {measured[0].pairs} texts", "tokens of a pair", "milliseconds, median")
    try:
        path.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"--plot {path} cannot be written: {error.strerror}") from error
