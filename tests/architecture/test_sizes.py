"""Sizes: a function fits on a screen, a file on a few, and the façade stays a façade."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pgbraid"
FUNCTION, FILE, FACADE = 40, 300, 250
LONGER_FILES = {
    "values.py": 400,  # every value of the house with its fields: a list, not a program
}
LONGER_FUNCTIONS: dict[str, int] = {}


def _modules() -> Iterator[tuple[str, str]]:
    """Every module that is written by hand, and its source."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("_sync/"):
            yield name, path.read_text(encoding="utf-8")


def _functions() -> Iterator[tuple[str, int]]:
    for name, source in _modules():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{name}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


def test_a_function_fits_on_a_screen() -> None:
    assert {f: n for f, n in _functions() if n > LONGER_FUNCTIONS.get(f, FUNCTION)} == {}


def test_a_file_has_at_most_three_hundred_lines() -> None:
    lines = {name: len(source.splitlines()) for name, source in _modules()}
    assert {name: n for name, n in lines.items() if n > LONGER_FILES.get(name, FILE)} == {}


def test_the_facade_stays_small() -> None:
    assert len((PACKAGE / "_async" / "braid.py").read_text(encoding="utf-8").splitlines()) <= FACADE


def test_an_exception_is_named_only_while_it_is_needed() -> None:
    lines = {name: len(source.splitlines()) for name, source in _modules()}
    assert {name for name in LONGER_FILES if lines[name] <= FILE} == set()
    functions = dict(_functions())
    assert {name for name in LONGER_FUNCTIONS if functions[name] <= FUNCTION} == set()


def test_every_module_says_what_it_is_for() -> None:
    silent = [name for name, source in _modules() if not ast.get_docstring(ast.parse(source))]
    assert silent == []
