"""Metadata filters: what a caller may ask of a document's metadata, as one bound jsonpath value.

    {"year": {"gte": 2024}, "lang": "en"}                      both must hold
    {"or": [{"tag": {"contains": "urgent"}}, {"not": {"status": {"in": ["closed", "void"]}}}]}

Operators: eq ne lt lte gt gte in nin exists contains; and or not combine. A key is taken as it stands; a key that
begins with "/" is a JSON pointer ("/author/name", "/tags/0", and "/or" for a key that is called so). Every condition
is true or false, never unknown: a missing key, or a value of another type, fulfils no condition but ne, nin and
{"exists": false}. Numbers are compared as numbers, text as text, so one odd row never fails a question. `contains`
asks whether an array holds the value (in an array within it, too) or a text holds the text.

The statement sees one parameter. PostgreSQL parses it as jsonpath, in which keys and values are quoted literals.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pgbraid.errors import FilterError, nearest

OPERATORS = ("eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "exists", "contains")
_COMPARE = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_MAX_DEPTH = 30
_MAX_STEPS = 8
_MAX_VALUES = 10_000
_MAX_BITS = 13_000  # Python writes no longer number as text
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_Place = tuple[str, str]  # what must be true of a document for the jsonpath to be the right one, and the jsonpath


def compile_filter(tree: Mapping[str, Any] | str | None) -> str | None:
    """A filter as jsonpath text, or None for no filter. Raises FilterError that names the wrong part."""
    if tree is None:
        return None
    if isinstance(tree, str):
        tree = _parse(tree)
    condition = _group(tree, depth=0)
    return condition or None


def _parse(text: str) -> Mapping[str, Any]:
    try:
        tree = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise FilterError(
            f'The filter is not JSON: {error}. It looks like this: {{"year": {{"gte": 2024}}}}'
        ) from error
    if tree is not None and not isinstance(tree, dict):
        raise FilterError(f"A filter is a JSON object, not {type(tree).__name__}.")
    return tree or {}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of a key that stands in it twice, only one condition would count."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
        raise FilterError(f"{twice!r} stands twice in one object of the filter. Put both conditions under one key.")
    return found


def _group(tree: Any, depth: int) -> str:
    """Every entry of an object must hold."""
    if depth > _MAX_DEPTH:
        raise FilterError(f"The filter is nested deeper than {_MAX_DEPTH} levels.")
    if not isinstance(tree, Mapping):
        raise FilterError(f"A filter is an object of keys and conditions, not {tree!r:.100}.")
    parts = [_entry(key, value, depth) for key, value in tree.items()]
    return " && ".join(part for part in parts if part)


def _entry(key: Any, value: Any, depth: int) -> str:
    if not isinstance(key, str):
        raise FilterError(f"A key in a filter is text, not {key!r:.100}.")
    if key in ("and", "or"):
        return _several(key, value, depth)
    if key == "not":
        inner = _group(value, depth + 1)
        return f"!({inner})" if inner else "(1 == 0)"
    return _conditions(_places(key), key, value)


def _several(word: str, value: Any, depth: int) -> str:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise FilterError(f"{word!r} takes a list of filters, not {value!r:.100}.")
    parts = [_group(item, depth + 1) or "(1 == 1)" for item in value]
    if not parts:
        return "" if word == "and" else "(1 == 0)"
    return "(" + (" && " if word == "and" else " || ").join(f"({part})" for part in parts) + ")"


def _conditions(places: Sequence[_Place], key: str, value: Any) -> str:
    if not isinstance(value, Mapping):
        return _condition(places, key, "eq", value)
    if not value:
        raise FilterError(f"{key!r} has an empty condition. Operators: {', '.join(OPERATORS)}.")
    return " && ".join(_condition(places, key, operator, operand) for operator, operand in value.items())


def _condition(places: Sequence[_Place], key: str, operator: Any, operand: Any) -> str:
    if operator in ("ne", "nin"):
        return f"!{_any(places, _equal(_values(key, operator, operand)))}"
    if operator in ("eq", "in"):
        return _any(places, _equal(_values(key, operator, operand)))
    if operator in _COMPARE:
        return _any(places, _filtered(f"@ {_COMPARE[operator]} {_ordered(key, operator, operand)}"))
    if operator == "exists":
        if not isinstance(operand, bool):
            raise FilterError(f"{key!r}: exists takes true or false, not {operand!r:.100}.")
        return ("" if operand else "!") + _any(places, lambda path: f"exists({path})")
    if operator == "contains":
        return _any(places, _contains(key, operand))
    raise FilterError(f"{key!r}: there is no operator {operator!r}. {nearest(str(operator), OPERATORS)}")


def _any(places: Sequence[_Place], test: Callable[[str], str]) -> str:
    """The test of a path, at whichever of the places a document has."""
    return "(" + " || ".join(f"({guard}{test(path)})" if guard else test(path) for guard, path in places) + ")"


def _filtered(condition: str) -> Callable[[str], str]:
    """jsonpath looks into arrays by itself; a plain comparison shall not."""
    return lambda path: f'{path}.type() != "array" && exists({path} ? ({condition}))'


def _equal(literals: Sequence[str]) -> Callable[[str], str]:
    if not literals:
        return lambda _: "1 == 0"
    return _filtered(" || ".join(f"@ == {literal}" for literal in literals))


def _contains(key: str, operand: Any) -> Callable[[str], str]:
    literal = _literal(key, operand)

    def within(path: str) -> str:
        held = f'({path}.type() == "array" && exists({path}[*] ? (@ == {literal})))'
        if not isinstance(operand, str):
            return held
        return f'({held} || ({path}.type() == "string" && exists({path} ? (@ like_regex {literal} flag "q"))))'

    return within


def _ordered(key: str, operator: str, operand: Any) -> str:
    if isinstance(operand, bool) or operand is None:
        raise FilterError(f"{key!r}: {operator} compares numbers, text or dates, not {operand!r}.")
    return _literal(key, operand)


def _values(key: str, operator: str, operand: Any) -> list[str]:
    if operator in ("eq", "ne"):
        return [_literal(key, operand)]
    if isinstance(operand, (str, bytes, Mapping)) or not isinstance(operand, (Sequence, set, frozenset)):
        raise FilterError(f"{key!r}: {operator} takes a list, not {operand!r:.100}.")
    if len(operand) > _MAX_VALUES:
        raise FilterError(f"{key!r}: {operator} takes at most {_MAX_VALUES} values, not {len(operand)}.")
    return [_literal(key, item) for item in operand]


def _literal(key: str, value: Any) -> str:
    """A value as a jsonpath literal; the escapes of a JSON string are jsonpath's, too."""
    if isinstance(value, date):  # a datetime is a date, too
        value = _day(key, value)
    if isinstance(value, str):
        return _text(key, value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return _number(key, value)
    raise FilterError(
        f"{key!r}: a filter compares text, numbers, true, false, null and dates, not {type(value).__name__}."
    )


def _day(key: str, value: date) -> str:
    """A date or time as `clean` stores it."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        return value.isoformat()
    try:
        return value.astimezone(UTC).isoformat()
    except OverflowError as error:
        raise FilterError(f"{key!r}: {value} has no date in UTC; give one inside years 1 to 9999.") from error


def _number(key: str, value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise FilterError(f"{key!r}: {value!r} is not a number that JSON knows.")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise FilterError(f"{key!r}: a number of {value.bit_length()} bits is too large to compare with.")
    return f"({json.dumps(value)})" if value < 0 else json.dumps(value)


def _places(key: str) -> list[_Place]:
    """Where a key leads. jsonpath looks into arrays by itself; a pointer names a place in one by number."""
    if not key.startswith("/"):
        return [("", f"$.{_text(key, key)}")]
    steps = [step.replace("~1", "/").replace("~0", "~") for step in key[1:].split("/")]
    if len(steps) > _MAX_STEPS:
        raise FilterError(f"{key!r:.100} goes down {len(steps)} steps; a filter takes at most {_MAX_STEPS}.")
    places: list[_Place] = [("", f"$.{_text(key, steps[0])}")]
    for step in steps[1:]:
        inner = [(f'{guard}{path}.type() == "object" && ', f"{path}.{_text(key, step)}") for guard, path in places]
        if _NUMBER.fullmatch(step):
            inner += [(f'{guard}{path}.type() == "array" && ', f"{path}[{step}]") for guard, path in places]
        places = inner
    return places


def _text(key: str, value: str) -> str:
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise FilterError(f"{key!r}: PostgreSQL cannot hold {value!r:.100} (a NUL byte or a lone surrogate).")
    return json.dumps(value, ensure_ascii=False)
