"""SQL stands in `sql/` and `migrations/`. In Python there is none, but for what is named here with its reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "pgbraid"
SQL = re.compile(
    r"\b(SELECT\b|INSERT INTO\b|DELETE FROM\b|UPDATE \w+ SET\b|(?:CREATE|ALTER|DROP) [A-Z]{4,}|TRUNCATE\b|GRANT [A-Z]+"
    r"|COPY \w+|SET LOCAL\b|UNION ALL\b|WITH \w+ AS\b|WITH hit\b|ORDER BY\b|GROUP BY\b|BEGIN;|COMMIT;|VALUES \()"
)
ALLOWED = {
    "compose.py": "the words that join whole statements: a CTE a branch, UNION ALL, and which rows are wanted",
    "schema.py": "messages that tell a DBA what to run, and the frame of the script that `sql` prints",
    "schema_dump.py": "the lines of pg_dump that are left out",
}


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Every string of a module that is not a docstring."""
    tree = ast.parse(source)
    with_docs = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, with_docs) and node.body]
    docs = {id(line.value) for line in first if isinstance(line, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def _found(source: str) -> list[tuple[int, str]]:
    return [(line, text) for line, text in _strings(source) if SQL.search(text)]


def test_no_module_holds_sql() -> None:
    stray = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in ALLOWED and (found := _found(path.read_text(encoding="utf-8"))):
            stray[name] = found
    assert stray == {}


def test_an_exception_is_named_only_while_it_is_needed() -> None:
    assert [name for name in ALLOWED if not _found((PACKAGE / name).read_text(encoding="utf-8"))] == []


def test_composing_holds_no_table_and_no_condition() -> None:
    texts = [text for _, text in _strings((PACKAGE / "compose.py").read_text(encoding="utf-8"))]
    assert not [text for text in texts if re.search(r"\b(WHERE|JOIN|pgbraid\.\w|INSERT|UPDATE|DELETE|DROP)\b", text)]


def test_the_search_finds_what_it_is_for() -> None:
    assert _found('x = f"SELECT a FROM {table}"')
    assert _found("x = 'drop' + 'DROP TABLE y'")
    assert not _found('"""SELECT is a word here."""')
