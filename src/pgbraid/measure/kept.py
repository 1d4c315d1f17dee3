"""Runs in files: one JSON object with the answers, their times, the grades and the questions' texts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from pgbraid.errors import SettingsError
from pgbraid.measure.scores import MEASURES, per_question
from pgbraid.measure.values import Answered, Kept


def save(runs: list[Kept], path: Path) -> None:
    """Write runs."""
    path.write_text(json.dumps([dataclasses.asdict(run) for run in runs], ensure_ascii=False), encoding="utf-8")


def load(path: Path) -> list[Kept]:
    """Read what `save` wrote. Raises SettingsError."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [
            Kept(**{**row, "answers": {key: _answered(one) for key, one in row["answers"].items()}}) for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"{path} is no file of runs ({error}): make one with `pgbraid eval run --save`") from None


def _answered(row: dict[str, Any]) -> Answered:
    return Answered(tuple(row["documents"]), dict(row["milliseconds"]))


def scores_of(run: Kept, measure: str = MEASURES[0]) -> dict[str, float]:
    """The score of each question of a run."""
    return per_question(run.grades, {key: one.documents for key, one in run.answers.items()}, measure)


def percentile(run: Kept, stage: str, share: float) -> float:
    """Milliseconds of a stage (`retrieve`, `total`, …) that `share` of the questions stay below; nearest rank."""
    spent = sorted(one.milliseconds.get(stage, 0.0) for one in run.answers.values())
    return spent[min(len(spent) - 1, int(len(spent) * share))] if spent else 0.0
