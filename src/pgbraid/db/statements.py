"""Statements: what stands in `sql/`, loaded, checked and with its holes filled.

A statement is a value: its name, its text and what its header promises. This module knows the header grammar and the
holes (sql/README.md); running a statement is left to the corridors in `_async` and `_sync`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files

from psycopg import sql

from pgbraid.errors import SettingsError

_HEADER = re.compile(r"(?:--[^\n]*\n)+")
_PARAM = re.compile(r"%\((\w+)\)s")
_LITERAL = re.compile(r"'(?:[^']|'')*'")

# What may stand behind the comment of a hole, by the kind that the header declares.
_SAMPLES = {
    "relation": r"\w+\.\w+",
    "schema": r"\w+",
    "name": r"\w+",
    "integer": r"\d+",
    "operator": r"<=>|<#>|<->",
    "type": r"vector|halfvec",
    "opclass": r"\w+_ops",
}
_CLOSED = {
    "operator": {"<=>", "<#>", "<->"},
    "type": {"vector", "halfvec"},
    "opclass": {f"{t}_{m}_ops" for t in ("vector", "halfvec") for m in ("cosine", "ip", "l2")},
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: `text` is what is sent; `params`, `row`, `plan` and `holes` are what its header declares."""

    name: str
    text: str
    params: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    holes: tuple[tuple[str, str], ...] = ()
    first_line: int = 1

    def fill(self, **values: str | int) -> Statement:
        """The statement with its holes filled; values are checked against the kind of each hole and quoted.

        Raises SettingsError for a hole that does not exist, is not filled, or a value that does not fit.
        """
        return _filled(self, tuple(values.items()))

    def region(self, name: str, body: str) -> Statement:
        """The statement with the rows of a region taken from another query, indented as the region was."""
        return _with_region(self, name, body)

    def renamed(self, names: Mapping[str, str]) -> Statement:
        """The statement with its parameters renamed, so that several can stand in one."""
        return _renamed(self, tuple(names.items()))


# A statement of one shape is composed for every question: only the first time has to be worked for.


@lru_cache(maxsize=2048)
def _filled(asked: Statement, values: tuple[tuple[str, str | int], ...]) -> Statement:
    kinds, given = dict(asked.holes), dict(values)
    if missing := kinds.keys() ^ given.keys():
        raise SettingsError(f"{asked.name}: holes {sorted(kinds)} do not fit the values for {sorted(missing)}")
    text = asked.text
    for hole, value in values:
        shown = _render(asked.name, hole, kinds[hole], value)
        text = re.sub(rf"/\*{hole}\*/ (?:{_SAMPLES[kinds[hole]]})", lambda _, s=shown: s, text)  # type: ignore[misc]
    return replace(asked, text=text, holes=())


@lru_cache(maxsize=256)
def _with_region(asked: Statement, name: str, body: str) -> Statement:
    pattern = re.compile(rf"^( *)/\*{name}\*/.*?/\*end\*/", re.DOTALL | re.MULTILINE)
    text, times = pattern.subn(lambda m: indented(body, m[1]), asked.text)
    if times != 1:
        raise SettingsError(f"{asked.name} has {times} regions {name!r}, not one")
    return replace(asked, text=text)


@lru_cache(maxsize=2048)
def _renamed(asked: Statement, names: tuple[tuple[str, str], ...]) -> Statement:
    known = dict(names)
    text = _PARAM.sub(lambda m: f"%({known.get(m[1], m[1])})s", asked.text)
    return replace(asked, text=text, params=parameters(text))


def indented(text: str, by: str = "    ") -> str:
    """Every line of a text moved to the right."""
    return "\n".join(by + line if line else line for line in text.splitlines())


def parameters(text: str) -> tuple[str, ...]:
    """The parameters that a text uses, in order, once each; what stands inside a literal does not count."""
    return tuple(dict.fromkeys(_PARAM.findall(_LITERAL.sub("''", text))))


@cache
def statement(name: str) -> Statement:
    """Load `sql/<name>.sql`. A wrong name or header fails at import of the room that asks for it."""
    path = files("pgbraid.sql").joinpath(*name.split("/")).with_name(f"{name.split('/')[-1]}.sql")  # type: ignore[attr-defined]
    return parse(name, path.read_text(encoding="utf-8"))


def parse(name: str, source: str) -> Statement:
    """Read a statement from its source. Raises SettingsError when header and body do not fit."""
    header = _HEADER.match(source)
    if header is None:
        raise SettingsError(f"sql/{name}.sql does not start with a header comment")
    body = source[header.end() :].strip().rstrip(";")
    declared: dict[str, list[str]] = {"param": [], "row": [], "plan": [], "hole": []}
    for line in header[0].splitlines():
        word, _, rest = line[2:].strip().partition(" ")
        if word in declared and rest:
            declared[word].append(rest.strip())
    result = Statement(
        name=name,
        text=body,
        params=tuple(line.split()[0] for line in declared["param"]),
        row=_names(declared["row"]),
        plan=_names(declared["plan"]),
        holes=tuple((line.split()[0], line.split()[1]) for line in declared["hole"]),
        first_line=source[: header.end()].count("\n") + 2,
    )
    if set(result.params) != set(parameters(body)):
        raise SettingsError(
            f"sql/{name}.sql declares parameters {sorted(result.params)} but uses {sorted(parameters(body))}"
        )
    return result


def _names(lines: list[str]) -> tuple[str, ...]:
    return tuple(word.strip() for line in lines for word in line.split(",") if word.strip())


def _render(statement_name: str, hole: str, kind: str, value: str | int) -> str:
    if kind == "integer":
        if type(value) is not int or value < 0:
            raise SettingsError(f"{statement_name}: hole {hole} takes a whole number, not {value!r}")
        return str(value)
    if kind in _CLOSED:
        if value not in _CLOSED[kind]:
            raise SettingsError(f"{statement_name}: hole {hole} takes one of {sorted(_CLOSED[kind])}, not {value!r}")
        return str(value)
    if not isinstance(value, str) or not value or "\0" in value:
        raise SettingsError(f"{statement_name}: hole {hole} takes a name, not {value!r}")
    quoted = quote(value)
    return f"pgbraid.{quoted}" if kind == "relation" else quoted


def quote(name: str) -> str:
    """A name as an SQL identifier, quoted when it has to be."""
    if re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        return name
    return sql.Identifier(name).as_string(None)
