"""JSON lines: one object a line is one document; and BEIR folders, which are JSON lines with a fixed file name.

Reads line by line, so a file may be larger than memory. A line that is wrong is rejected with its number; the rest
goes on.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pgbraid.errors import SettingsError
from pgbraid.values import EMPTY, Document, Rejected

_IDS = ("external_id", "id", "_id")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
REJECTED = "pgbraid_rejected"  # why a document was rejected, in a file of such documents: no metadata of theirs
_PARENTS = "parents.tsv"
_PARENTS_HEADER = ("parent-id", "corpus-id")

Row = dict[str, Any]


def jsonl_documents(lines: Iterable[bytes], label: str) -> Iterator[Document | Rejected]:
    """The documents of JSON lines. Ids are looked for as external_id, id, _id; keys without meaning are metadata."""
    for place, row in _rows(lines, label):
        try:
            yield _document(_object(row), _IDS, ("title", "text", "tenant"))
        except ValueError as error:
            yield Rejected(_known_id(row, _IDS) or place, f"{place}: {error}")


def row_document(row: Row, place: str) -> Document | Rejected:
    """A row of a table as a document: its columns are understood like the keys of a JSON line."""
    try:
        return _document(row, _IDS, ("title", "text", "tenant"))
    except ValueError as error:
        return Rejected(_known_id(row, _IDS) or place, f"{place}: {error}")


def beir_documents(corpus: Path) -> Iterator[Document | Rejected]:
    """The rows of a BEIR corpus file as documents.

    Judgements refer to rows, so rows stay documents where `parents.tsv` groups them: the parent's id becomes the
    metadata key `parent`. A row with a title and no text has its title as text, as BEIR's own systems search it.
    """
    parents = _parents(corpus.with_name(_PARENTS))
    with corpus.open("rb") as lines:
        for place, row in _rows(lines, str(corpus)):
            try:
                yield _beir_document(_object(row), parents)
            except ValueError as error:
                yield Rejected(_known_id(row, ("_id",)) or place, f"{place}: {error}")


def _beir_document(row: Row, parents: Mapping[str, str]) -> Document:
    parent = parents.get(_known_id(row, ("_id",)))
    more = {} if parent is None else {"parent": parent}
    doc = _document(row, ("_id",), ("title", "text"), more)
    if doc.text.strip() or not doc.title.strip():
        return doc
    return Document(doc.external_id, doc.title, doc.title, doc.metadata)


# ── lines ──────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(lines: Iterable[bytes], label: str) -> Iterator[tuple[str, object]]:
    """Every line that is not blank: its place as file:line, and its value, or the error that tells why it has none."""
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith(_UTF16):
            yield f"{label}:1", ValueError("the file is UTF-16; convert it to UTF-8")
            return
        stripped = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip()
        if stripped:
            yield f"{label}:{number}", _parsed(stripped)


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        return ValueError(f"not UTF-8 at byte {error.start} of the line ({error.reason})")
    except json.JSONDecodeError as error:
        return ValueError(f"not JSON ({error.msg} at column {error.colno})")
    except RecursionError:
        return ValueError("not JSON that can be read (nested too deeply)")
    except ValueError as error:
        return ValueError(f"not JSON ({error})")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number; leave the key out or use null")


def _object(row: object) -> Row:
    if isinstance(row, ValueError):
        raise row
    if not isinstance(row, dict):
        raise ValueError(f"a JSON object is needed, not {type(row).__name__}")
    return row


def _known_id(row: object, names: Iterable[str]) -> str:
    """The row's id for a report; empty text when it has none."""
    try:
        return _id(row, names)[1] if isinstance(row, dict) else ""
    except ValueError:
        return ""


# ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────


def _document(row: Row, ids: Iterable[str], fields: tuple[str, ...], more: Mapping[str, Any] = EMPTY) -> Document:
    id_key, external_id = _id(row, ids)
    if "text" not in row:
        raise ValueError("there is no key 'text'")
    rest = {key: value for key, value in row.items() if key not in (id_key, *fields, "metadata", REJECTED)}
    metadata = _metadata(row.get("metadata"), rest, more)
    tenant = _text(row, "tenant") if "tenant" in fields else ""
    return Document(external_id, _text(row, "text"), _text(row, "title"), metadata, tenant)


def _id(row: Row, names: Iterable[str]) -> tuple[str, str]:
    names = tuple(names)
    key = next((name for name in names if row.get(name) is not None), None)
    if key is None:
        raise ValueError(f"there is no id; give one of the keys {', '.join(names)}")
    return key, _as_text(row[key], key)


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    return _as_text(value, name) if name == "tenant" else _only_text(value, name)


def _as_text(value: object, name: str) -> str:
    """Text, or a number as text: ids and tenants are often numbers where they come from."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _only_text(value, name)


def _only_text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"the key {name!r} is {type(value).__name__}, not text")
    return value


def _metadata(given: object, *others: Mapping[str, Any]) -> Row:
    if given is not None and not isinstance(given, dict):
        raise ValueError(f"the key 'metadata' is {type(given).__name__}, not an object")
    joined = dict(given or {})
    for other in others:
        for key, value in other.items():
            if key in joined and joined[key] != value:
                raise ValueError(f"the metadata key {key!r} is given twice with different values")
            joined[key] = value
    return joined


# ── BEIR's parents ─────────────────────────────────────────────────────────────────────────────────────────


def _parents(path: Path) -> dict[str, str]:
    """The parent's id of every row that has one; empty without the file."""
    if not path.is_file():
        return {}
    parents: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", errors="strict") as lines:
        if tuple(next(lines, "").rstrip("\r\n").split("\t")) != _PARENTS_HEADER:
            raise SettingsError(f"{path}:1: the header must be {' and '.join(_PARENTS_HEADER)}, parted by a tab.")
        for number, line in enumerate(lines, start=2):
            fields = line.rstrip("\r\n").split("\t")
            if fields == [""]:
                continue
            if len(fields) != 2 or parents.setdefault(fields[1], fields[0]) != fields[0]:
                raise SettingsError(f"{path}:{number}: one parent-id and one corpus-id are needed, each row once.")
    return parents
