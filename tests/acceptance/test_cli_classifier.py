"""`pgbraid route`: a question, and the classifier trained, activated and taken back from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def labels(full: Run, tmp_path: Path) -> Path:
    """A file of labelled questions for two routes."""
    routes = {
        "contracts": {"collections": ["legal"], "examples": ["contract"]},
        "people": {"collections": ["hr"], "examples": ["leave"]},
    }
    (tmp_path / "routes.yaml").write_text(json.dumps({"routes": routes, "default": "none"}), encoding="utf-8")
    assert full("apply", str(tmp_path / "routes.yaml")).code == 0
    said = [
        (f"{before}{word}{after}", route)
        for word, route in (("contract", "contracts"), ("leave", "people"))
        for before in ("", "my ", "the ")
        for after in ("", " now", " today", " please")
    ]
    lines = [json.dumps({"question": question, "routes": [route]}) for question, route in said]
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_what_is_no_command_is_a_question(filled: Run) -> None:
    asked = filled("route", "合同在哪里", "--json").json
    for arguments in (("route", "ask", "合同在哪里", "--json"), ("route", "--json", "合同在哪里")):
        again = filled(*arguments).json
        assert (again["chosen"], again["selector"]) == (asked["chosen"], asked["selector"]) == (["legal"], "rules")


def test_a_classifier_is_trained_activated_asked_and_taken_back(full: Run, labels: Path, tmp_path: Path) -> None:
    trained = full("route", "train", "--labels", str(labels), "--json").json
    assert (trained["version"], trained["active"], trained["report"]["questions"]) == (1, False, 24)
    assert full("route", "activate", "1").code == 0
    (tmp_path / "chain.yaml").write_text("selectors: [{classifier: {threshold: 0.6}}]", encoding="utf-8")
    assert full("apply", str(tmp_path / "chain.yaml")).code == 0
    assert full("route", "is my contract signed", "--json").json["chosen"] == ["legal"]
    second = full("route", "train", "--balanced")
    assert "version" in second.out and "pgbraid route activate 2" in second.err
    assert full("route", "activate", "2", "--json").json["active"] is True
    assert full("route", "back", "--json").json["version"] == 1
    assert [v["active"] for v in full("route", "versions", "--json").json] == [False, True]
    shown = full("route", "versions").out
    assert "●" in shown and "accuracy" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["route", "activate", "7"], 6, "There is no version 7 of the classifier"),
        (["route", "back"], 6, "nothing to go back to"),
        (["route", "train", "--labels", "/no/such/file.csv"], 2, "/no/such/file.csv cannot be read"),
        (["route", "train"], 2, "at least two routes apart; the labelled questions name 0"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(filled: Run, arguments: list[str], code: int, said: str) -> None:
    ended = filled(*arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (code, "", 1)
    assert said in ended.err
