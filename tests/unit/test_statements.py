"""Statements as values: the header is read, holes are filled or refused, regions exchanged, parameters renamed."""

from __future__ import annotations

import pytest

from pgbraid.db.statements import Statement, indented, parameters, parse, quote, statement
from pgbraid.errors import SettingsError

SOURCE = """\
-- Read some rows. It's an example.
-- param tenant text   whose
-- row   id, text
-- row   score
-- plan  words_gin
-- hole  chunk relation
-- hole  dim integer

SELECT
    c.id,
    'a %(quoted)s literal' AS text,
    /*dim*/ 384 AS score
FROM /*chunk*/ pgbraid.chunk AS c
WHERE c.tenant = %(tenant)s::text
"""


def test_the_header_becomes_the_values_of_the_statement() -> None:
    read = parse("room/rows", SOURCE.replace("'a %(quoted)s literal'", "''"))
    assert (read.params, read.row, read.plan) == (("tenant",), ("id", "text", "score"), ("words_gin",))
    assert read.holes == (("chunk", "relation"), ("dim", "integer"))
    assert read.text.startswith("SELECT") and read.text.endswith("::text")
    assert SOURCE.splitlines()[read.first_line - 1] == "SELECT"


def test_a_parameter_inside_a_literal_is_not_used() -> None:
    assert parameters("SELECT %(a)s, 'it''s %(b)s', %(c)s, %(a)s") == ("a", "c")
    with pytest.raises(SettingsError, match=r"declares parameters \['quoted'\] but uses \[\]"):
        parse("room/rows", "-- Read.\n-- param quoted text\n\nSELECT interval '%(quoted)s seconds'\n")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("SELECT 1\n", "does not start with a header"),
        ("-- Read.\n-- param a text\n\nSELECT 1\n", r"declares parameters \['a'\] but uses \[\]"),
        ("-- Read.\n\nSELECT %(a)s::text\n", r"declares parameters \[\] but uses \['a'\]"),
    ],
)
def test_a_header_that_does_not_fit_its_body_is_refused(source: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        parse("room/rows", source)


def test_a_statement_that_does_not_exist_fails_when_it_is_asked_for() -> None:
    with pytest.raises(FileNotFoundError):
        statement("retrieve/nothing")


def _filled(kind: str, sample: str, value: str | int) -> str:
    return (
        Statement("room/x", f"SELECT /*it*/ {sample} AS a, /*it*/ {sample} AS b", holes=(("it", kind),))
        .fill(it=value)
        .text
    )


@pytest.mark.parametrize(
    ("kind", "sample", "value", "written"),
    [
        ("relation", "pgbraid.chunk", "chunk_7", "pgbraid.chunk_7"),
        ("relation", "pgbraid.chunk", 'a"b; DROP', 'pgbraid."a""b; DROP"'),
        ("relation", "pgbraid.chunk", "Chunk", 'pgbraid."Chunk"'),
        ("schema", "public", "extensions", "extensions"),
        ("schema", "public", "my schema", '"my schema"'),
        ("name", "chunk_1_words_gin", "x\\1\\g<0>", '"x\\1\\g<0>"'),
        ("integer", "384", 32, "32"),
        ("operator", "<=>", "<#>", "<#>"),
        ("type", "halfvec", "vector", "vector"),
        ("opclass", "halfvec_cosine_ops", "vector_l2_ops", "vector_l2_ops"),
    ],
)
def test_a_hole_is_filled_at_each_of_its_places_and_quoted(
    kind: str, sample: str, value: str | int, written: str
) -> None:
    assert _filled(kind, sample, value) == f"SELECT {written} AS a, {written} AS b"


@pytest.mark.parametrize(
    ("kind", "sample", "value"),
    [
        ("integer", "384", "32"),
        ("integer", "384", -1),
        ("integer", "384", True),
        ("operator", "<=>", "="),
        ("operator", "<=>", "<=> 1) --"),
        ("type", "halfvec", "text"),
        ("opclass", "halfvec_cosine_ops", "vector_ops"),
        ("relation", "pgbraid.chunk", ""),
        ("relation", "pgbraid.chunk", "a\0b"),
        ("relation", "pgbraid.chunk", 7),
        ("schema", "public", ""),
    ],
)
def test_a_value_that_does_not_fit_the_kind_of_its_hole_is_refused(kind: str, sample: str, value: str | int) -> None:
    with pytest.raises(SettingsError, match="room/x: hole it takes"):
        _filled(kind, sample, value)


def test_holes_are_filled_all_or_not_at_all() -> None:
    asked = statement("retrieve/lexical")
    with pytest.raises(SettingsError, match="do not fit the values"):
        asked.fill(chunk="chunk_1")
    with pytest.raises(SettingsError, match="do not fit the values"):
        asked.fill(chunk="chunk_1", ext="public", table="chunk_1")
    assert asked.fill(chunk="chunk_1", ext="public").holes == ()


def test_filling_leaves_the_statement_itself_as_it_was() -> None:
    asked = statement("retrieve/lexical")
    before = asked.text
    asked.fill(chunk="chunk_1", ext="public")
    assert asked.text == before
    assert statement("retrieve/lexical") is asked


def test_a_region_is_exchanged_with_its_indentation_kept() -> None:
    asked = Statement("room/x", "SELECT *\nFROM (\n    /*rows*/\n    SELECT 1\n    /*end*/\n) AS x")
    assert asked.region("rows", "SELECT 2\n\nFROM y").text == "SELECT *\nFROM (\n    SELECT 2\n\n    FROM y\n) AS x"


@pytest.mark.parametrize("name", ["fused", "nothing"])
def test_a_region_that_is_not_there_once_is_refused(name: str) -> None:
    twice = Statement("room/x", "/*fused*/ 1 /*end*/\n/*fused*/ 1 /*end*/")
    with pytest.raises(SettingsError, match=f"regions '{name}', not one"):
        twice.region(name, "SELECT 1")


def test_renamed_parameters_are_those_that_are_used() -> None:
    asked = parse("room/x", "-- Read.\n-- param a text\n-- param ab text\n\nSELECT %(a)s, %(ab)s, %(a)s\n")
    renamed = asked.renamed({"a": "a_1", "unknown": "b"})
    assert renamed.text == "SELECT %(a_1)s, %(ab)s, %(a_1)s"
    assert renamed.params == ("a_1", "ab")


def test_indenting_leaves_empty_lines_empty() -> None:
    assert indented("a\n\n  b") == "    a\n\n      b"


@pytest.mark.parametrize(
    ("name", "written"),
    [("chunk_1", "chunk_1"), ("1a", '"1a"'), ("A", '"A"'), ("名", '"名"'), ('"', '""""'), ("a b", '"a b"')],
)
def test_a_name_is_quoted_when_it_must_be(name: str, written: str) -> None:
    assert quote(name) == written
