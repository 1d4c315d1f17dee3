"""Questions labelled with routes: read from files, and how well probabilities agree with them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pgbraid.errors import SettingsError
from pgbraid.measure.judgements import numbered_lines
from pgbraid.measure.values import Agreement, Labelled

COLUMNS = ("question", "route")
BINS = 10


def read_labelled(path: Path) -> list[Labelled]:
    """Labelled questions of a file, each question once.

    A CSV file has the columns question and route, one row for each route of a question; an empty route means none. Any
    other file has an object a line: `question`, and `routes`, a list of names. Raises SettingsError with the line.
    """
    routes: dict[str, dict[str, None]] = {}
    for question, names in _csv_rows(path) if path.suffix == ".csv" else _json_rows(path):
        routes.setdefault(question, {}).update(dict.fromkeys(names))
    if not routes:
        raise SettingsError(f"{path} holds no labelled question")
    return [Labelled(question, tuple(names)) for question, names in routes.items()]


def _csv_rows(path: Path) -> Iterator[tuple[str, Sequence[str]]]:
    rows = csv.reader([line for _, line in numbered_lines(path)])
    heading = next(rows, [])
    if tuple(heading) != COLUMNS:
        raise SettingsError(f"{path}:1: the columns are {', '.join(COLUMNS)}, not {', '.join(heading)}")
    for row in rows:
        if len(row) != 2 or not row[0].strip():
            raise SettingsError(f"{path}: row {rows.line_num}: not a question and a route: {row}")
        yield row[0].strip(), [row[1].strip()] if row[1].strip() else []


def _json_rows(path: Path) -> Iterator[tuple[str, Sequence[str]]]:
    for number, line in numbered_lines(path):
        try:
            row: Any = json.loads(line)
            question, routes = row["question"], row["routes"]
            good = isinstance(question, str) and isinstance(routes, list) and all(isinstance(r, str) for r in routes)
        except (ValueError, KeyError, TypeError):
            good = False
        if not good or not question.strip() or not all(routes):
            raise SettingsError(f"{path}:{number}: not an object with question and routes, a list: {line:.80}")
        yield question.strip(), routes


def agreement(labels: Sequence[str], probabilities: Any, routes: Sequence[Sequence[str]]) -> Agreement:
    """How well probabilities, (questions, labels), agree with the routes of each question; the label "" is none."""
    place = {label: i for i, label in enumerate(labels)}
    own = [{place[r] for r in names or ("",) if r in place} for names in routes]
    best = np.argmax(probabilities, axis=1)
    sure = probabilities[np.arange(len(best)), best]
    right = np.array([b in o for b, o in zip(best, own, strict=True)])
    said = np.array([sum(p[i] for i in o) for p, o in zip(probabilities, own, strict=True)])
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = [abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(BINS)]
    return Agreement(
        questions=len(best),
        accuracy=float(right.mean()),
        macro_f1=_macro_f1(len(labels), best, own),
        log_loss=float(-np.log(np.maximum(said, 1e-12)).mean()),
        calibration_error=float(sum(gaps) / len(best)),
    )


def _macro_f1(labels: int, best: Any, own: Sequence[set[int]]) -> float:
    """The mean of F1 over the labels that some question has or got."""
    true, got, had = np.zeros(labels), np.zeros(labels), np.zeros(labels)
    for chosen, names in zip(best, own, strict=True):
        got[chosen] += 1
        had[list(names)] += 1
        true[chosen] += chosen in names
    some = (got + had) > 0
    return float((2 * true[some] / (got + had)[some]).mean())
