"""Every file of `sql/`: its header keeps to the grammar, its body is SQL as it stands, and one room uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgbraid.db.statements import _SAMPLES as KINDS
from pgbraid.db.statements import Statement, parameters, statement

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pgbraid"
LONGEST = 120
LONGER = {
    "retrieve/collapse",  # five steps on the same rows; apart they would have to be composed to be run
}
LINE = {
    "param": re.compile(r"[a-z_0-9]+ +[a-z0-9]+(?:\[\])?(?:  +\S.*)?"),
    "row": re.compile(r" *[a-z_0-9]+(?:, [a-z_0-9]+)*,?"),
    "plan": re.compile(r" *[a-z_]+(?:, [a-z_]+)*,?"),
    "hole": re.compile(r" *[a-z]+ [a-z]+"),
}
# Which folders a module may ask. Link and search set up a session; a look-up reads what a question needs in one trip.
ROOMS = {
    "compose": {"retrieve", "parents"},
    "_async/link": {"session", "catalog"},
    "_async/catalog": {"catalog", "route", "lexical"},
    "_async/decide": {"route"},
    "_async/declare": {"declare"},
    "_async/doctor": {"doctor"},
    "_async/indexes": {"catalog", "session", "upkeep", "write"},
    "_async/learn": {"learn"},
    "_async/maintain": {"upkeep"},
    "_async/rerank": {"rerank"},
    "_async/train": {"train"},
    "_async/recall": {"measure"},
    "_async/search": {"session"},
    "_async/upkeep": {"lexical", "write"},
    "_async/write": {"write"},
}


def _source(name: str) -> str:
    return (ROOT / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def _header(name: str) -> list[str]:
    return [line[3:] for line in _source(name).partition("\n\n")[0].splitlines()]


def _numbered(text: str) -> str:
    """The text as PostgreSQL gets it: $1 for the first parameter."""
    places = {p: f"${i}" for i, p in enumerate(parameters(text), 1)}
    return re.sub(r"%\((\w+)\)s", lambda m: places.get(m[1], m[0]), text)


def test_a_header_is_a_sentence_and_then_its_declarations(name: str) -> None:
    lines = _header(name)
    words = [line.split()[0] for line in lines]
    first = next((i for i, word in enumerate(words) if word in LINE), len(words))
    assert lines[0][0].isupper(), "a header begins with a sentence"
    assert first > 0 and lines[first - 1].endswith("."), "the sentences before the declarations end with a full stop"
    for word, line in zip(words[first:], lines[first:], strict=True):
        assert word in LINE, f"{line!r} stands among the declarations and is none"
        assert LINE[word].fullmatch(line.removeprefix(f"{word} ")), line
    order = [list(LINE).index(word) for word in words[first:]]
    assert order == sorted(order), "the order is param, row, plan, hole"


def test_a_blank_line_ends_the_header_and_one_newline_the_file(name: str) -> None:
    source = _source(name)
    header, _, body = source.partition("\n\n")
    assert all(line.startswith("-- ") for line in header.splitlines())
    assert body.endswith("\n") and not body.endswith("\n\n") and not body.startswith("\n")
    assert not body.rstrip().endswith(";"), "a file is one statement, without a semicolon"


def test_declared_parameters_are_those_used_outside_of_literals(name: str) -> None:
    asked = statement(name)
    assert sorted(asked.params) == sorted(parameters(asked.text))
    assert len(set(asked.params)) == len(asked.params)


def test_every_percent_sign_belongs_to_a_parameter(name: str) -> None:
    assert "%" not in re.sub(r"%\(\w+\)s", "", statement(name).text)


def test_holes_are_declared_and_have_a_sample_of_their_kind(name: str) -> None:
    asked = statement(name)
    used = set(re.findall(r"/\*(\w+)\*/ ", asked.text))
    assert used == {hole for hole, _ in asked.holes}
    for hole, kind in asked.holes:
        assert kind in KINDS
        for place in re.findall(rf"/\*{hole}\*/ \S+", asked.text):
            assert re.match(rf"/\*{hole}\*/ (?:{KINDS[kind]})", place), place


def test_a_hole_never_stands_in_a_literal(name: str) -> None:
    assert not any("/*" in literal for literal in re.findall(r"'(?:[^']|'')*'", statement(name).text))


def test_the_body_is_one_statement_as_it_stands(name: str) -> None:
    pglast = pytest.importorskip("pglast")
    assert len(pglast.parse_sql(_numbered(statement(name).text))) == 1


def test_a_file_fits_on_two_screens(name: str) -> None:
    lines = len(_source(name).splitlines())
    assert lines <= (160 if name in LONGER else LONGEST)


def test_every_name_of_the_length_exceptions_is_still_long() -> None:
    assert {name for name in LONGER if len(_source(name).splitlines()) > LONGEST} == LONGER


def _used() -> dict[str, set[str]]:
    """The statements that each module loads; a name with a hole in it, as in an f-string, means all that fit."""
    files = [p.relative_to(ROOT / "sql").with_suffix("").as_posix() for p in (ROOT / "sql").glob("*/*.sql")]
    used: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for asked in re.findall(r'\bstatement\(f?"([^"]+)"\)', path.read_text(encoding="utf-8")):
            pattern = re.sub(r"\\\{\w+\\\}", r"\\w+", re.escape(asked))
            used.setdefault(module, set()).update(f for f in files if re.fullmatch(pattern, f))
    return used


def test_a_room_asks_only_its_own_folders() -> None:
    asked = {m: {name.split("/")[0] for name in names} for m, names in _used().items() if not m.startswith("_sync/")}
    assert asked == ROOMS


def test_every_statement_is_asked_by_some_module(name: str) -> None:
    assert any(name in names for names in _used().values())


def test_a_statement_is_a_value_that_nobody_changes() -> None:
    asked: Statement = statement("retrieve/lexical")
    with pytest.raises(AttributeError):
        asked.text = ""  # type: ignore[misc]
