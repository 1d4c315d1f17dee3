"""The operator's number of threads counts once a model that needs torch was loaded, and not before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

SCRIPT = """
import sys
from pgbraid.models import Models
from pgbraid.settings import Settings
from pgbraid import AsyncBraid, Braid, EmbedderRecord
kind, given, folder = sys.argv[1:]
settings = Settings(dsn="postgresql://nowhere", threads=int(given) if given else None)
models = [kind_of(settings).models for kind_of in (Braid, AsyncBraid)]
if kind == "hashing":
    models[0].embedder(models[0].describe(EmbedderRecord("e", "hashing", "hashing", 8)))
    print("torch" in sys.modules)
else:
    import torch
    torch.set_num_threads(3)
    if kind == "embedder":
        models[0].embedder(models[0].describe(EmbedderRecord("e", "transformers", folder, 0)))
    else:
        models[1].reranker(f"{kind}:{folder}", {})
    print(torch.get_num_threads())
"""


def printed(kind: str, threads: str, folder: Path | str = "") -> str:
    """What a fresh process says."""
    line = [sys.executable, "-c", SCRIPT, kind, threads, str(folder)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("kind", "model"),
    [("embedder", "BertModel"), ("maxsim", "BertModel"), ("cross-encoder", "BertForSequenceClassification")],
)
def test_a_model_that_runs_in_torch_takes_the_threads_that_were_set(
    tiny: Callable[..., Path], kind: str, model: str
) -> None:
    folder = tiny(model, **({"num_labels": 1} if kind == "cross-encoder" else {}))
    assert printed(kind, "1", folder) == "1"
    assert printed(kind, "", folder) == "3"


def test_a_model_without_torch_does_not_load_it_for_that() -> None:
    assert printed("hashing", "1") == "False"
