"""Metadata filters: what a caller may ask of a document's metadata, as one bound jsonpath value.

    {"year": {"gte": 2024}, "lang": "en"}                      both must hold
    {"or": [{"tag": {"contains": "urgent"}}, {"not": {"status": {"in": ["closed", "void"]}}}]}

Operators: eq ne lt lte gt gte in nin exists contains; and or not combine. A key is taken as it stands; a key that begins
with "/" is a JSON pointer ("/author/name"). Every condition is true or false, never unknown: a missing key, or a value of
another type, fulfils no condition but ne, nin and {"exists": false}. Numbers are compared as numbers, text as text, so one odd row
never fails a question. `contains` asks whether an array holds the value or a text holds the text.

The statement sees one parameter. PostgreSQL parses it as jsonpath, in which keys and values are quoted literals.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pgbraid.errors import FilterError, nearest

OPERATORS = ("eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "exists", "contains")
_COMPARE = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_MAX_DEPTH = 30
_MAX_VALUES = 10_000


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
        tree = json.loads(text)
    except ValueError as error:
        raise FilterError(
            f'The filter is not JSON: {error}. It looks like this: {{"year": {{"gte": 2024}}}}'
        ) from error
    if tree is not None and not isinstance(tree, dict):
        raise FilterError(f"A filter is a JSON object, not {type(tree).__name__}.")
    return tree or {}


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
    return _conditions(_path(key), key, value)


def _several(word: str, value: Any, depth: int) -> str:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise FilterError(f"{word!r} takes a list of filters, not {value!r:.100}.")
    parts = [_group(item, depth + 1) or "(1 == 1)" for item in value]
    if not parts:
        return "" if word == "and" else "(1 == 0)"
    return "(" + (" && " if word == "and" else " || ").join(f"({part})" for part in parts) + ")"


def _conditions(path: str, key: str, value: Any) -> str:
    if not isinstance(value, Mapping):
        return _condition(path, key, "eq", value)
    if not value:
        raise FilterError(f"{key!r} has an empty condition. Operators: {', '.join(OPERATORS)}.")
    return " && ".join(_condition(path, key, operator, operand) for operator, operand in value.items())


def _condition(path: str, key: str, operator: Any, operand: Any) -> str:
    match operator:
        case "eq":
            return _equal(path, [_literal(key, operand)])
        case "ne":
            return f"!({_equal(path, [_literal(key, operand)])})"
        case "in" | "nin":
            among = _equal(path, _literals(key, operator, operand))
            return among if operator == "in" else f"!({among})"
        case "lt" | "lte" | "gt" | "gte":
            return f"({_single(path)} && exists({path} ? (@ {_COMPARE[operator]} {_ordered(key, operator, operand)})))"
        case "exists":
            if not isinstance(operand, bool):
                raise FilterError(f"{key!r}: exists takes true or false, not {operand!r:.100}.")
            return f"(exists({path}))" if operand else f"(!exists({path}))"
        case "contains":
            return _contains(path, key, operand)
    raise FilterError(f"{key!r}: there is no operator {operator!r}. {nearest(str(operator), OPERATORS)}")


def _single(path: str) -> str:
    """jsonpath looks into arrays by itself; a plain comparison shall not."""
    return f'{path}.type() != "array"'


def _equal(path: str, literals: Sequence[str]) -> str:
    if not literals:
        return "(1 == 0)"
    return f"({_single(path)} && exists({path} ? ({' || '.join(f'@ == {literal}' for literal in literals)})))"


def _contains(path: str, key: str, operand: Any) -> str:
    literal = _literal(key, operand)
    within = f'({path}.type() == "array" && exists({path}[*] ? (@ == {literal})))'
    if not isinstance(operand, str):
        return within
    return f'({within} || ({path}.type() == "string" && exists({path} ? (@ like_regex {literal} flag "q"))))'


def _ordered(key: str, operator: str, operand: Any) -> str:
    if isinstance(operand, bool) or operand is None:
        raise FilterError(f"{key!r}: {operator} compares numbers, text or dates, not {operand!r}.")
    return _literal(key, operand)


def _literals(key: str, operator: str, operand: Any) -> list[str]:
    if isinstance(operand, (str, bytes, Mapping)) or not isinstance(operand, (Sequence, set, frozenset)):
        raise FilterError(f"{key!r}: {operator} takes a list, not {operand!r:.100}.")
    if len(operand) > _MAX_VALUES:
        raise FilterError(f"{key!r}: {operator} takes at most {_MAX_VALUES} values, not {len(operand)}.")
    return [_literal(key, item) for item in operand]


def _literal(key: str, value: Any) -> str:
    """A value as a jsonpath literal. JSON's escapes of quotes, backslashes and control characters are jsonpath's too."""
    if isinstance(value, datetime):
        value = (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    elif isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise FilterError(f"{key!r}: {value!r} is not a number that JSON knows.")
    if value is None or isinstance(value, (bool, int, float)):
        return (
            f"({json.dumps(value)})"
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0
            else json.dumps(value)
        )
    if isinstance(value, str):
        return _text(key, value)
    raise FilterError(
        f"{key!r}: a filter compares text, numbers, true, false, null and dates, not {type(value).__name__}."
    )


def _path(key: str) -> str:
    steps = (
        [step.replace("~1", "/").replace("~0", "~") for step in key[1:].split("/")] if key.startswith("/") else [key]
    )
    return "$" + "".join(f".{_text(key, step)}" for step in steps)


def _text(key: str, value: str) -> str:
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise FilterError(f"{key!r}: PostgreSQL cannot hold {value!r:.100} (a NUL byte or a lone surrogate).")
    return json.dumps(value, ensure_ascii=False)
