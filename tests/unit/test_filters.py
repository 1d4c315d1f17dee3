"""Filters: what PostgreSQL finds is what a plain reading of the filter finds, and a wrong filter says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgbraid.errors import FilterError
from pgbraid.filters import OPERATORS, compile_filter

MISSING = object()
ODD = [
    "",
    "a",
    "1",
    "01",
    "A",
    "it's",
    '"',
    "\\",
    "\\\\",
    "$",
    "$1",
    "%s",
    "%(x)s",
    "a.b",
    "a b",
    "and ",
    "合同",
    "😀",
    "\n",
]
ODD += [
    "@",
    "?",
    "\t",
    "\x7f",
    "*",
    "[0]",
    "null",
    "true",
    "/",
    "~",
    "~1",
    ".*",
    "(",
    "é",
    "{}",
    "or",
    "not",
    "0",
    "10",
    "2",
]


@pytest.fixture(scope="module")
def server(shared_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(shared_database, autocommit=True) as connection:
        yield connection


def judge(server: psycopg.Connection[Any], documents: list[Any], filters: list[Any]) -> list[list[bool | None]]:
    """What PostgreSQL says: for each filter, of each document."""
    rows = server.execute(
        "SELECT array_agg(d.j @@ f.p ORDER BY d.n) "
        "FROM unnest(%s::text[]::jsonpath[]) WITH ORDINALITY AS f (p, n) "
        "CROSS JOIN unnest(%s::text[]::jsonb[]) WITH ORDINALITY AS d (j, n) GROUP BY f.n ORDER BY f.n",
        [[compile_filter(f) for f in filters], [json.dumps(d) for d in documents]],
    )
    return [row[0] for row in rows]


# ── a plain reading of a filter ────────────────────────────────────────────────────────────────────────────


def reads(tree: Any, document: Any) -> bool:
    """Whether a document fulfils a filter, by the words of the module's docstring."""
    return all(_entry(key, value, document) for key, value in tree.items())


def _entry(key: str, value: Any, document: Any) -> bool:
    if key in ("and", "or"):
        return (all if key == "and" else any)(reads(part, document) for part in value)
    if key == "not":
        return not reads(value, document)
    conditions = value if isinstance(value, dict) else {"eq": value}
    return all(_holds(op, _found(key, document), operand) for op, operand in conditions.items())


def _found(key: str, document: Any) -> Any:
    if not key.startswith("/"):
        return document.get(key, MISSING)
    for step in key[1:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name, MISSING)
        elif isinstance(document, list) and name.isdecimal() and name == str(int(name)) and int(name) < len(document):
            document = document[int(name)]
        else:
            return MISSING
    return document


def _same(found: Any, value: Any) -> bool:
    return _kind(found) == _kind(value) != "other" and _plain(found) == _plain(value)


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {bool: "bool", int: "number", float: "number", str: "text", type(None): "null"}
    return kinds.get(type(value), "other")


def _plain(value: Any) -> Any:
    return Decimal(repr(value)) if _kind(value) == "number" else value


def _holds(op: str, found: Any, operand: Any) -> bool:
    if op in ("ne", "nin"):
        return not _holds({"ne": "eq", "nin": "in"}[op], found, operand)
    if op == "exists":
        return (found is not MISSING) is operand
    if op == "contains":
        if isinstance(found, list):
            inside = [x for item in found for x in (item if isinstance(item, list) else [item])]
            return any(_same(item, operand) for item in inside)
        return isinstance(found, str) and isinstance(operand, str) and operand in found
    if op in ("eq", "in"):
        return any(_same(found, value) for value in ([operand] if op == "eq" else operand))
    compare: dict[str, Callable[[Any, Any], bool]] = {"lt": lt, "lte": le, "gt": gt, "gte": ge}
    kind = _kind(found)
    return kind == _kind(operand) and kind in ("number", "text") and compare[op](_plain(found), _plain(operand))


# ── documents and filters by chance ────────────────────────────────────────────────────────────────────────

texts = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
numbers = st.integers(-3, 3) | st.integers() | st.sampled_from([0.0, -0.0, 1.0, 0.5, -2.5, 1e23, 1e-9, 10**30])
scalars = st.none() | st.booleans() | numbers | texts
keys = st.sampled_from(["a", "b", *ODD]) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
)
documents = st.dictionaries(keys, values, max_size=5)
steps = keys.map(lambda key: key.replace("~", "~0").replace("/", "~1"))
pointers = st.lists(steps, min_size=1, max_size=3).map(lambda found: "/" + "/".join(found))
asked = keys.filter(lambda key: key not in ("and", "or", "not") and not key.startswith("/")) | pointers
conditions = st.one_of(
    st.tuples(st.sampled_from(["eq", "ne", "contains"]), scalars),
    st.tuples(st.sampled_from(["lt", "lte", "gt", "gte"]), numbers | texts),
    st.tuples(st.sampled_from(["in", "nin"]), st.lists(scalars, max_size=3)),
    st.tuples(st.just("exists"), st.booleans()),
)
leaves = st.dictionaries(
    asked, scalars | st.lists(conditions, min_size=1, max_size=2).map(dict), min_size=1, max_size=2
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"and": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, max_size=3)}),
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(documents, min_size=1, max_size=6), st.lists(trees, min_size=1, max_size=8))
def test_postgresql_finds_what_a_plain_reading_finds(server: Any, found: list[Any], filters: list[Any]) -> None:
    useful = [tree for tree in filters if compile_filter(tree) is not None]
    if useful:
        assert judge(server, found, useful) == [[reads(tree, d) for d in found] for tree in useful]


ROWS: list[Any] = [
    {}, {"k": None}, {"k": True}, {"k": False}, {"k": 0}, {"k": 1}, {"k": 1.0}, {"k": -1}, {"k": "1"}, {"k": ""},
    {"k": "one"}, {"k": []}, {"k": [1]}, {"k": ["one", 1]}, {"k": [[1]]}, {"k": {}}, {"k": {"k": 1}},
    {"k": [{"k": 1}]}, {"k": {"0": 1}},
]  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_judges_each_kind_of_value(operator: str, server: Any) -> None:
    single = [1, 1.0, -1, 0, "1", "", "one", "n"] + ([] if operator.startswith(("lt", "gt")) else [True, False, None])
    operands: list[Any] = single
    if operator in ("in", "nin"):
        operands = [[], [1, "one"], [None, True], ["1"], [-1, 0]]
    if operator == "exists":
        operands = [True, False]
    filters = [{key: {operator: operand}} for operand in operands for key in ("k", "/k", "/k/k", "/k/0", "/k/0/k")]
    assert judge(server, ROWS, filters) == [[reads(tree, row) for row in ROWS] for tree in filters]


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        ({"year": {"gte": 2024}, "lang": "en"}, ["new"]),
        ({"or": [{"tag": {"contains": "urgent"}}, {"not": {"status": {"in": ["closed", "void"]}}}]}, ["new", "odd"]),
        ({"year": {"gte": 2000, "lt": 2010}}, ["old"]),
        ({"year": {"ne": 2024}}, ["old", "odd"]),
        ({"year": "2024"}, ["odd"]),
        ({"/author/name": "李"}, ["new"]),
        ({"/tag/0": "urgent"}, ["new"]),
        ({"/authors/name": "李"}, []),
        ({"/or": True}, ["odd"]),
        ({"and": [], "lang": "en"}, ["new", "old"]),
        ({"or": []}, []),
        ({"not": {}}, []),
        ({"or": [{}]}, ["new", "old", "odd"]),
        ('{"lang": "en", "year": {"lt": 2010}}', ["old"]),
    ],
)
def test_the_examples_of_the_documentation(tree: Any, found: list[str], server: Any) -> None:
    rows: dict[str, Any] = {
        "new": {"year": 2024, "lang": "en", "tag": ["urgent", "it"], "status": "closed", "author": {"name": "李"}},
        "old": {"year": 2003, "lang": "en", "status": "void", "authors": [{"name": "李"}]},
        "odd": {"year": "2024", "lang": "zh", "tag": "not so urgent", "or": True},
    }
    judged = judge(server, list(rows.values()), [tree])[0]
    assert [name for name, held in zip(rows, judged, strict=True) if held] == found


INJECTIONS = [
    '" == 1) || (1 == 1',
    '") || exists($.*) || ($."x',
    "x' OR '1'='1",
    "'; DROP SCHEMA pgbraid CASCADE; --",
    '\\" ? (1 == 1)',
    "$.*",
    '"."other',
    "/a\"]/b') --",
    '\\u0022 || 1 == 1 || "',
    "%(tenant)s %s $1",
    'x" flag "i") || (1 == 1) || ("a" like_regex "a',
    "*/ || /*",
]


@pytest.mark.parametrize("hostile", INJECTIONS)
def test_a_hostile_key_or_value_is_only_itself(hostile: str, server: Any) -> None:
    key = hostile if not hostile.startswith("/") else "/" + hostile.replace("~", "~0").replace("/", "~1")
    rows: list[Any] = [{"other": 1}, {"k": hostile}, {hostile: 1}, {"k": [hostile]}, {"k": f"in {hostile} it"}]
    filters: list[Any] = [{key: 1}, {"k": hostile}, {"k": {"contains": hostile}}, {"k": {"in": [hostile]}}]
    assert judge(server, rows, filters) == [
        [False, False, True, False, False],
        [False, True, False, False, False],
        [False, True, False, True, True],
        [False, True, False, False, False],
    ]


def test_dates_are_compared_as_they_are_stored(server: Any) -> None:
    rows = [
        {"at": "2024-05-01T10:00:00+00:00"},
        {"at": "2024-05-01"},
        {"at": "2023-12-31T23:59:59+00:00"},
        {"at": 2024},
    ]
    same = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    filters = [
        {"at": same},
        {"at": {"gte": datetime(2024, 1, 1, tzinfo=UTC)}},
        {"at": {"lt": date(2024, 1, 1)}},
        {"at": {"in": [date(2024, 5, 1)]}},
        {"at": {"gt": datetime(2024, 5, 1)}},
    ]
    assert judge(server, rows, filters) == [
        [True, False, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [False, True, False, False],
        [True, False, False, False],
    ]


def test_no_filter_is_none() -> None:
    nothing: list[Any] = [None, {}, "{}", "null", {"and": []}]
    assert [compile_filter(f) for f in nothing] == [None] * 5


def test_a_filter_is_not_changed_by_compiling_it() -> None:
    tree: dict[str, Any] = {"or": [{"a": {"in": {1, 2}}}, {"not": {"b": [1][0]}}]}
    before = repr(tree)
    compile_filter(tree)
    assert repr(tree) == before


def test_many_values_and_much_nesting_are_taken(server: Any) -> None:
    deep: Any = {"a": 1}
    for _ in range(30):
        deep = {"not": deep}
    assert judge(server, [{"a": 1}, {"a": 2}], [deep, {"a": {"in": list(range(1, 10_001))}}]) == [
        [True, False],
        [True, True],
    ]


def _nested(levels: int) -> Any:
    tree: Any = {"a": 1}
    for _ in range(levels):
        tree = {"and": [tree]}
    return tree


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("{", "The filter is not JSON: .* It looks like this"),
        ("[1]", "A filter is a JSON object, not list"),
        ("[" * 100_000, "The filter is not JSON"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": NaN}', "'a': nan is not a number"),
        ({"a": {"eq": float("inf")}}, "inf is not a number"),
        ({"a": 10**5000}, "16610 bits is too large"),
        ([1], r"A filter is an object of keys and conditions, not \[1\]"),
        ({1: 1}, "A key in a filter is text, not 1"),
        ({"and": {"a": 1}}, "'and' takes a list of filters"),
        ({"or": "a"}, "'or' takes a list of filters, not 'a'"),
        ({"or": [1]}, "A filter is an object of keys and conditions, not 1"),
        ({"not": [1]}, "A filter is an object"),
        ({"a": {}}, "'a' has an empty condition. Operators: eq, ne"),
        ({"a": {"gtee": 1}}, "'a': there is no operator 'gtee'. Did you mean 'gte'"),
        ({"a": {"$gt": 1}}, "no operator '\\$gt'. Did you mean 'gt'"),
        ({"a": {1: 1}}, "no operator 1"),
        ({"a": [1]}, "'a': a filter compares .*, not list"),
        ({"a": {"eq": {"b": 1}}}, "not dict"),
        ({"a": Decimal(1)}, "not Decimal"),
        ({"a": {"lt": True}}, "'a': lt compares numbers, text or dates, not True"),
        ({"a": {"gte": None}}, "gte compares numbers, text or dates, not None"),
        ({"a": {"in": "abc"}}, "'a': in takes a list, not 'abc'"),
        ({"a": {"nin": {"b": 1}}}, "nin takes a list"),
        ({"a": {"in": list(range(10_001))}}, "in takes at most 10000 values, not 10001"),
        ({"a": {"exists": 1}}, "'a': exists takes true or false, not 1"),
        ({"a": {"contains": [1]}}, "not list"),
        ({"a": "x\0"}, "'a': PostgreSQL cannot hold"),
        ({"a\0": 1}, "PostgreSQL cannot hold"),
        ({"a": "\ud800"}, "a lone surrogate"),
        ({"/1/2/3/4/5/6/7/8/9": 1}, "goes down 9 steps; a filter takes at most 8"),
        ({"a": datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))}, "has no date in UTC"),
        (_nested(31), "nested deeper than 30 levels"),
    ],
)  # fmt: skip
def test_a_wrong_filter_says_what_is_wrong(tree: Any, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        compile_filter(tree)
