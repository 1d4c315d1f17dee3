"""Measuring rerankers: what is measured, what follows from it, and the command."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from pgbraid.cli.app import app
from pgbraid.errors import SettingsError
from pgbraid.rerank.bench import Measured, advise, expanded, measure

KIND = "BertForSequenceClassification"
SIZES = {"num_labels": 1, "max_position_embeddings": 300}


@pytest.fixture
def model(tiny) -> Path:
    """A cross-encoder that reads questions of whole sentences; the other tiny ones read 32 tokens."""
    folder = tiny(KIND, **SIZES)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"model_max_length": 300}))
    return folder


def test_each_reranker_is_measured_at_each_length_it_reads(model):
    specs = [f"cross-encoder:{model}#precision=fp32", f"cross-encoder:{model}#precision=fp32,max_tokens=128"]
    found = measure(specs, [100, 200], pairs=3, rounds=1)
    assert [(one.reranker, one.pairs) for one in found] == [(specs[0], 3), (specs[0], 3), (specs[1], 3)]
    assert [one.tokens <= length for one, length in zip(found, [100, 200, 100], strict=True)] == [True] * 3
    assert found[1].tokens > 190 and all(one.one > 0 and one.milliseconds > 0 for one in found)
    assert found[0].precision == "fp32" and found[0].drift == 0


def test_lengths_that_no_reranker_reads_are_refused(model):
    with pytest.raises(SettingsError, match="as many as 400 tokens"):
        measure([f"cross-encoder:{model}#precision=fp32"], [400], pairs=1, rounds=1)


def test_the_advice_is_what_fits_with_a_fifth_in_reserve():
    (said,) = advise([Measured("r", "fp32", 0.0, 100, 30, 600.0, 21.0)], budget_ms=300)
    assert (said.rerank_top_k, said.rerank_budget_ms) == (12, 751)  # 240 of 300 ms at 20 ms a pair; 600 / 0.8


def test_specs_are_multiplied_by_precisions_unless_they_name_one():
    assert expanded(["cross-encoder:m", "cross-encoder:m#precision=int8"], ["fp32", "bf16"], False) == [
        "cross-encoder:m#precision=fp32",
        "cross-encoder:m#precision=bf16",
        "cross-encoder:m#precision=int8",
        "cross-encoder:m#precision=int8",
    ]


def test_the_command_prints_what_was_measured_and_draws_it(model, tmp_path):
    plot = tmp_path / "speed.svg"
    asked = ["rerank", "bench", f"cross-encoder:{model}", "--lengths", "100,200", "--pairs", "2", "--rounds", "1"]
    done = CliRunner().invoke(app, [*asked, "--precisions", "fp32,bf16", "--plot", str(plot), "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 0 and len(told["measured"]) == len(told["advice"]) == 4
    assert {one["precision"] for one in told["measured"]} == {"fp32", "bf16"}
    lines = ElementTree.parse(plot).getroot().findall(".//{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0 and "tokens" in shown.stdout and "pairs/" in shown.stdout


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["--lengths", "12,x"], "whole numbers"),
        (["--plot", "speed.png"], "ends in .svg"),
        (["--precisions", "fp8"], "precision is one of"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(model, wrong, told):
    done = CliRunner().invoke(app, ["rerank", "bench", f"cross-encoder:{model}", *wrong])
    assert done.exit_code != 0 and told in done.stderr
