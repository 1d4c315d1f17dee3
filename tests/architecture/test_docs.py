"""The documentation says what the code does: pages are fresh, links lead somewhere, examples are understood."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import pgbraid
from pgbraid import errors
from pgbraid.cli.app import app
from pgbraid.declared import parse
from pgbraid.errors import SettingsError
from pgbraid.filters import OPERATORS, compile_filter
from pgbraid.plan import with_options
from pgbraid.settings import FOR_TESTS, PREFIX, Settings
from pgbraid.values import Profile

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "sql" / "README.md"])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HTTP = ("http://", "https://")

sys.path.insert(0, str(ROOT / "scripts"))
reference: Any = importlib.import_module("write_reference")
reference_code: Any = importlib.import_module("reference_code")


@cache
def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _blocks(language: str) -> list[tuple[str, str]]:
    """Every fenced block of a language, with the page it is on; generated pages show signatures, not examples."""
    pages = [name for name in NAMES if not name.startswith("docs/reference/")]
    return [(name, body) for name in pages for lang, body in FENCE.findall(_text(name)) if lang == language]


def _examples(language: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("name", "source"), [pytest.param(*b, id=f"{i}-{b[0]}") for i, b in enumerate(_blocks(language))]
    )


# ── generated pages ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("page", sorted(reference.PAGES))
def test_a_page_of_the_reference_is_fresh(page: str) -> None:
    written = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert written == reference.page(page), "run: python scripts/write_reference.py"


def test_nothing_else_stands_in_the_reference() -> None:
    assert {path.name for path in (ROOT / "docs" / "reference").iterdir()} == set(reference.PAGES)


def test_every_command_has_a_section() -> None:
    for path, _ in reference_code.commands(app, "pgbraid"):
        assert f"\n## {path}\n" in _text("docs/reference/cli.md")


def test_every_setting_is_documented_with_its_variable() -> None:
    for name in Settings.model_fields:
        assert f"| `{name}` | `{PREFIX}{name.upper()}` |" in _text("docs/reference/settings.md")


def test_every_error_is_documented_with_its_exit_code() -> None:
    found = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, errors.PgbraidError)]
    for error in found:
        if not error.__name__.startswith("_"):
            row = rf"\| `{error.__name__}` \| `\w+` \| {error.exit_code} \|"
            assert re.search(row, _text("docs/reference/errors.md")), error


def test_every_exported_name_is_documented() -> None:
    for name in pgbraid.__all__:
        assert f"\n## {name}\n" in _text("docs/reference/python.md")


def test_every_statement_is_documented() -> None:
    for path in (ROOT / "sql").glob("*/*.sql"):
        name = path.relative_to(ROOT / "sql").with_suffix("").as_posix()
        assert f"### [{name}](" in _text("docs/reference/statements.md")


def test_the_limits_of_a_profile_are_those_that_are_checked() -> None:
    rows = re.findall(r"^\| `(\w+)` .*?: (\d+) to (\d+)[;.]", _text("docs/reference/settings.md"), re.MULTILINE)
    said = {name: (int(low), int(high)) for name, low, high in rows if hasattr(Profile(), name)}
    assert said.keys() >= {"top_k", "candidates", "rrf_k", "rerank_top_k", "dense_weight", "lexical_weight"}
    for name, (low, high) in said.items():
        for value in (low, high):
            with_options(Profile(), {name: value})
        for value in (low - 1, high + 1):
            with pytest.raises(SettingsError):
                with_options(Profile(), {name: value})


# ── links ──────────────────────────────────────────────────────────────────────────────────────────────────


def _anchors(text: str) -> set[str]:
    """What headings are called in links, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", word).strip().replace(" ", "-") for word in words}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in LINK.findall(FENCE.sub("", _text(name))):
        if link.startswith(HTTP):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{name}: {link}"
        assert path.is_relative_to(ROOT), f"{name}: {link} leaves the repository"
        if anchor:
            assert anchor in _anchors(path.read_text(encoding="utf-8")), f"{name}: {link}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), {ROOT / "README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        found = {(page.parent / link.partition("#")[0]).resolve() for link in links if not link.startswith(HTTP)}
        waiting |= {path for path in found if path.suffix == ".md"} - reached
    assert set(PAGES) - reached == set()


# ── examples ───────────────────────────────────────────────────────────────────────────────────────────────


def _command_lines() -> Iterator[Any]:
    for name, body in _blocks("sh"):
        for line in body.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["pgbraid"]:
                yield pytest.param(name, words, id=line.strip())


def test_the_documentation_shows_many_command_lines() -> None:
    assert len(list(_command_lines())) > 20


@pytest.mark.parametrize(("name", "words"), list(_command_lines()))
def test_a_command_line_in_the_documentation_is_understood(name: str, words: list[str]) -> None:
    known = dict(reference_code.commands(app, "pgbraid"))
    path = max((p for p in known if words[: len(p.split())] == p.split()), key=len)
    assert not known[path].parts, f"{name}: {' '.join(words)} names no command"
    taken = {opt for p in known[path].parameters for opt in re.findall(r"`(-[^`]+)`", reference_code.option_names(p))}
    for word in words[len(path.split()) :]:
        if word.startswith("-"):
            assert word.partition("=")[0] in taken, f"{name}: {path} has no option {word}"


@_examples("python")
def test_a_python_example_can_be_read_and_its_imports_exist(name: str, source: str) -> None:
    tree = compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pgbraid"):
            if (node.module or "").startswith("pgbraid.contrib."):
                pytest.importorskip(str(node.module).split(".")[2], reason="the extra is not installed")
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                importable = hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}")
                assert importable, f"{name}: {node.module} has no {alias.name}"


@_examples("python")
def test_a_python_example_calls_what_a_braid_has(name: str, source: str) -> None:
    for node in ast.walk(compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("braid", "mine")):
            continue
        method = getattr(pgbraid.Braid, node.func.attr, None)
        assert method is not None, f"{name}: a Braid has no {node.func.attr}"
        parameters = inspect.signature(method).parameters
        open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        for keyword in node.keywords:
            assert open_ended or keyword.arg in parameters, f"{name}: {node.func.attr} takes no {keyword.arg}"


@_examples("yaml")
def test_a_declared_file_in_the_documentation_is_valid(name: str, source: str) -> None:
    parse(source)


@_examples("json")
def test_a_filter_in_the_documentation_is_valid(name: str, source: str) -> None:
    assert compile_filter(json.loads(source))


def test_every_operator_of_filters_is_explained() -> None:
    for operator in OPERATORS:
        assert f"`{operator}`" in _text("docs/how-to/write-filters.md")


def test_no_environment_variable_is_invented() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields} | FOR_TESTS
    for name in NAMES:
        assert set(re.findall(r"\bPGBRAID_[A-Z_]+\b", _text(name))) <= known, name


def test_no_error_is_invented() -> None:
    ours = re.compile(
        r"`((?:No[A-Z]|Bad[A-Z]|Schema[A-Z]|Unknown[A-Z]|Missing[A-Z])\w+|[A-Z]\w+(?:Error|Mismatch|Failed|Lost))`"
    )
    for name in NAMES:
        for error in ours.findall(_text(name)):
            assert hasattr(errors, error), f"{name}: {error}"
