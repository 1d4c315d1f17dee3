"""The tree as it is published: the wheel has every file, what is generated is fresh, no place is told of."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("src", "sql", "migrations", "tests", "docs", "scripts", "benchmarks", "examples", ".ci")
TEXTS = {".py", ".sql", ".md", ".toml", ".txt", ".yml", ".yaml", ".sh", ".cfg", ".ini", ".json", ".jsonl", ""}
# Written in pieces, so that this file does not find itself.
FORBIDDEN = re.compile(
    "|".join(
        [
            r"/wo" + r"rk/(?:main|shared|\.lib)",
            r"/tm" + r"p/w/",
            r"\.\./sha" + r"red",
            r"/ro" + r"ot/(?!\.config)",
            r"\bAI[- ]gen" + r"erated\b",
            r"\b(?:as an|written by an?) (?:AI|language) (?:mod" + r"el|assistant)",
            r"\bfiles\.python" + r"hosted\.org",
        ]
    )
)


def _files() -> list[Path]:
    """Every text of the tree that is, or will be, under version control."""
    found = [path for part in PARTS for path in (ROOT / part).rglob("*") if path.is_file()]
    found += [path for path in ROOT.iterdir() if path.is_file()]
    skipped = ("__pycache__", ".egg-info")
    return [p for p in found if p.suffix in TEXTS and not any(s in part for part in p.parts for s in skipped)]


def _copied(to: Path) -> Path:
    """The tree without what a build or a run left behind, so that the wheel has nothing from there."""
    left = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
    for part in ("src", "sql", "migrations"):
        shutil.copytree(ROOT / part, to / part, ignore=left)
    for path in ROOT.glob("*"):
        if path.is_file():
            shutil.copy(path, to)
    return to


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel that is built from a copy of the tree."""
    pytest.importorskip("build")
    source = _copied(tmp_path_factory.mktemp("tree"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "out"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next((source / "out").glob("*.whl"))) as archive:
        return set(archive.namelist())


def _inside(folder: str, package: str, *endings: str) -> set[str]:
    paths = [path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*") if path.suffix in endings]
    return {f"{package}/{path.as_posix()}" for path in paths if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_statement(wheel: set[str]) -> None:
    wanted = _inside("sql", "pgbraid/sql", ".sql", ".py")
    assert wanted == {name for name in wheel if name.startswith("pgbraid/sql/") and not name.endswith(".md")}


def test_the_wheel_holds_every_migration(wheel: set[str]) -> None:
    wanted = _inside("migrations", "pgbraid/migrations", ".sql", ".py")
    assert wanted == {name for name in wheel if name.startswith("pgbraid/migrations/")}


def test_the_wheel_holds_every_module_and_says_that_it_is_typed(wheel: set[str]) -> None:
    assert _inside("src/pgbraid", "pgbraid", ".py", ".typed", ".css") <= wheel


def test_the_wheel_holds_nothing_else(wheel: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"pgbraid"}
    assert not [name for name in wheel if re.search(r"__pycache__|test|\.log$", name)]


def test_the_sync_corridors_are_freshly_generated() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "async_to_sync.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run scripts/async_to_sync.py:\n{done.stdout}{done.stderr}"


def test_nobody_imports_what_stands_above_them() -> None:
    lint = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    if lint is None:
        pytest.skip("import-linter is not installed")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_tells_of_the_place_it_was_made_in() -> None:
    told = []
    for path in _files():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if FORBIDDEN.search(line):
                told.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert told == []


def test_texts_end_in_one_newline_and_have_no_trailing_space() -> None:
    wrong = []
    for path in _files():
        text = path.read_text(encoding="utf-8", errors="replace")
        if (
            path.suffix in (".py", ".sql", ".md", ".toml")
            and text
            and (not text.endswith("\n") or text.endswith("\n\n") or re.search(r"[ \t]+\n", text))
        ):
            wrong.append(path.relative_to(ROOT).as_posix())
    assert wrong == []
