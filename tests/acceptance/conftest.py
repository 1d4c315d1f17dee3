"""Commands to run, on a database of their own, and small files to load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from pgbraid.cli.app import app

FILE = {
    "embedders": {"h": {"kind": "hashing", "model": "words", "dimensions": 64}},
    "collections": {
        "hr": {"embedder": "h", "chunking": {"tokens": 40, "overlap": 5}},
        "legal": {"embedder": "h", "chunking": {"tokens": 40, "overlap": 5}},
    },
    "profiles": {"short": {"top_k": 1}},
    "routes": {"contracts": {"collections": ["legal"], "match": {"any": ["合同"]}}},
    "aliases": {"法务": "legal"},
}
LEAVE = """# Annual leave

Every employee has 25 days of paid leave a year.

## Carrying over

Up to five days may be carried over into the next year, and they end with March.
"""
CONTRACT = """# 合同审批流程

合同审批要走什么流程？业务部门发起，法务审查，财务审核，最后用印归档。

## 谁来批准

五十万元以下由部门负责人批准，五十万元以上由总经理批准，未经审批不得签字，也不得开始履行合同。
"""


class Ended:
    """How a command ended: its exit code and what it said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


def on(dsn: str) -> Run:
    """Commands on this database."""

    def run(*arguments: str, input: str | None = None, env: dict[str, str] | None = None) -> Ended:
        done = CliRunner(env={"COLUMNS": "80", **(env or {})}).invoke(app, ["--dsn", dsn, *arguments], input=input)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ended(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def run(database: str) -> Run:
    """Commands on a database of this test's own."""
    return on(database)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "pgbraid.yaml").write_text(yaml.safe_dump(FILE, allow_unicode=True), encoding="utf-8")
    for name, text in (("hr/leave.md", LEAVE), ("legal/contract.md", CONTRACT)):
        (folder / name).parent.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def load(run: Run, files: Path) -> None:
    assert run("apply", str(files / "pgbraid.yaml")).code == 0
    for name in ("hr", "legal"):
        assert run("ingest", name, str(files / name)).code == 0


@pytest.fixture(scope="module")
def filled(made: Any, template: str, files: Path) -> Iterator[Run]:
    """Commands on a database with documents; tests only read in it."""
    with made(template) as dsn:
        load(on(dsn), files)
        yield on(dsn)


@pytest.fixture(scope="session")
def run_in() -> Callable[[str], Run]:
    """`run_in(dsn)("search", …)`."""
    return on


@pytest.fixture
def full(run: Run, files: Path) -> Run:
    """Commands on a database with documents, of this test's own."""
    load(run, files)
    return run
