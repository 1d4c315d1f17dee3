"""Makes a document storable and says what was changed.

PostgreSQL's text cannot hold NUL bytes, UTF-8 cannot hold half a surrogate pair, and jsonb knows neither dates nor
NaN. What can be put right without guessing is put right and noted; what cannot is refused with the key that is
wrong. Identity (external id, tenant) is never changed, only refused. Nothing given is mutated. Splitting, embedding
and storing are left to other rooms.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from pgbraid.errors import BadDocument
from pgbraid.values import Document, Heading, Json

MAX_ID_BYTES = 1024  # an identity is part of an index entry, whose limit is about 2,700 bytes
MAX_NESTING = 32
MAX_VALUES = 100_000  # YAML aliases can describe more values than any memory holds
MAX_INTEGER_BITS = 3_320  # 1,000 digits; Python refuses to write integers of more than 4,300

_UNCLEAN = re.compile("\r\n?|\x00|[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_IMPOSSIBLE = re.compile("[\x00\ud800-\udfff]")
_NOTES = {
    "nul": "removed {n} NUL byte{s}",
    "lone": "replaced {n} lone surrogate{s} by U+FFFD",
    "pair": "joined {n} surrogate pair{s} into the character meant",
}
Notes = tuple[str, ...]


def storable(text: str) -> bool:
    """Whether PostgreSQL can hold the text as it is: no NUL byte, no lone surrogate."""
    return _IMPOSSIBLE.search(text) is None


def clean_text(text: str) -> tuple[str, Notes]:
    """`text` without NUL bytes and lone surrogates, with line ends `\\n`; and notes on what was changed.

    A high surrogate followed by a low one becomes the one character that both stand for. Line ends alone are no note.
    """
    counts: Counter[str] = Counter()

    def put_right(match: re.Match[str]) -> str:
        found = match.group()
        if found[0] == "\r":
            return "\n"
        if found == "\x00":
            counts["nul"] += 1
            return ""
        counts["pair" if len(found) == 2 else "lone"] += 1
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    cleaned = _UNCLEAN.sub(put_right, text)
    return cleaned, tuple(_NOTES[kind].format(n=n, s="" if n == 1 else "s") for kind, n in counts.items())


# ── metadata ───────────────────────────────────────────────────────────────────────────────────────────────


def clean_metadata(value: Mapping[str, Any]) -> tuple[dict[str, Json], Notes]:
    """`value` as plain JSON: new dicts, lists, text, numbers, booleans and None; and notes on changed text.

    Dates become ISO 8601 text (with a time zone: in UTC), UUIDs text, Decimals and NumPy scalars numbers where that
    is exact. Anything else, a key that is not text, NaN, infinity, or nesting deeper than 32 raises `BadDocument`
    naming the key.
    """
    if not isinstance(value, Mapping):
        raise BadDocument(f"metadata is {_kind(value)}, not a mapping; give an object with text keys.")
    work = _Cleaning()
    return work.mapping(value, "", 1), tuple(work.notes)


class _Cleaning:
    """One pass over one document's metadata: the notes so far and how many values were seen."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.seen = 0

    def value(self, value: object, path: str, level: int) -> Json:
        self.seen += 1
        if self.seen > MAX_VALUES:
            raise BadDocument(f"metadata holds more than {MAX_VALUES:,} values; store large data as text or elsewhere.")
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, Mapping):
            return self.mapping(value, path, level + 1)
        if isinstance(value, list | tuple):
            _check_level(path, level + 1)
            return [self.value(item, f"{path}[{i}]", level + 1) for i, item in enumerate(value)]
        return _scalar(value, path)

    def mapping(self, value: Mapping[Any, Any], path: str, level: int) -> dict[str, Json]:
        _check_level(path, level)
        cleaned: dict[str, Json] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise _refused(_below(path, str(key)), f"the key is {_kind(key)}, not text", "Write the key as text")
            name = self.text(key, _below(path, key))
            if name in cleaned:
                raise _refused(_below(path, name), "two keys are the same once cleaned", "Rename one of them")
            cleaned[name] = self.value(item, _below(path, name), level)
        return cleaned

    def text(self, value: str, path: str) -> str:
        cleaned, notes = clean_text(str.__str__(value))  # an enumeration's member gives its plain text
        self.notes += (f"metadata {_shown(path)}: {note}" for note in notes)
        return cleaned


def _scalar(value: object, path: str) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise _refused(path, "an integer of more than 1,000 digits", "Give it as text")
        return int(value)
    if isinstance(value, float):
        return _finite(float(value), path)
    if isinstance(value, UUID):
        return str(value)
    return _converted(value, path)


def _converted(value: object, path: str) -> Json:
    if isinstance(value, Decimal):
        return _exact(value, path)
    if isinstance(value, date):  # a datetime is a date, too
        return _iso(value, path)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return _from_numpy(value, path)
    raise _refused(path, f"{_kind(value)} is not JSON", "Use text, numbers, booleans, None, lists and mappings")


def _finite(value: float, path: str) -> float:
    if not math.isfinite(value):
        raise _refused(path, f"{value} is not a JSON number", "Leave the key out or use None")
    return value


def _exact(value: Decimal, path: str) -> int | float:
    if not value.is_finite():
        raise _refused(path, f"{value} is not a JSON number", "Leave the key out or use None")
    if value.adjusted() < 1000 and value == value.to_integral_value():
        return int(value)
    number = float(value)
    if not math.isfinite(number) or Decimal(repr(number)) != value:
        raise _refused(path, f"a float cannot hold Decimal {str(value)[:40]} exactly", "Give it as text or rounded")
    return number


def _iso(value: date, path: str) -> str:
    if value != value:  # pandas' NaT calls itself a datetime
        raise _refused(path, f"{_kind(value)} is no date", "Leave the key out or use None")
    if isinstance(value, datetime) and value.utcoffset() is not None:
        try:
            return value.astimezone(UTC).isoformat()
        except OverflowError as error:
            raise _refused(path, f"{value} has no date in UTC", "Give a date inside years 1 to 9999") from error
    return value.isoformat()


def _from_numpy(value: Any, path: str) -> Json:
    plain = value.item()
    # A datetime64 finer than microseconds gives a bare integer, a long double gives itself: neither says what it was.
    if type(plain).__module__ == "numpy" or (value.dtype.kind == "M" and not isinstance(plain, date)):
        raise _refused(path, f"numpy.{value.dtype} has no exact JSON form", "Convert it first")
    return _scalar(plain, path)


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _shown(path: str) -> str:
    return ascii(path if len(path) <= 200 else path[:200] + "…")


def _kind(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _check_level(path: str, level: int) -> None:
    if level > MAX_NESTING:
        raise _refused(path, f"nested deeper than {MAX_NESTING}", "Flatten it or store it as text")


def _refused(path: str, what: str, do: str) -> BadDocument:
    return BadDocument(f"metadata {_shown(path)}: {what}. {do}.")


# ── documents ──────────────────────────────────────────────────────────────────────────────────────────────


def clean_document(doc: Document) -> tuple[Document, Notes]:
    """A copy of `doc` that can be stored, and notes on what was changed.

    The title becomes one line. Raises `BadDocument` when the text is blank, the external id empty, longer than 1024
    bytes or impossible to store, or metadata or headings cannot be kept as they are.
    """
    _check_identity(doc)
    text, text_notes = clean_text(doc.text)
    if not text.strip():
        raise BadDocument(f"document {doc.external_id!r} has no text; leave it out or give it text.")
    title, title_notes = clean_text(doc.title)
    metadata, notes = clean_metadata(doc.metadata)
    headings = None if doc.headings is None else _moved(doc.text, text, doc.headings)
    cleaned = replace(doc, text=text, title=" ".join(title.split()), metadata=metadata, headings=headings)
    check_headings(cleaned)
    return cleaned, (*(f"text: {note}" for note in text_notes), *(f"title: {note}" for note in title_notes), *notes)


def _check_identity(doc: Document) -> None:
    for name in ("external_id", "tenant", "text", "title"):
        if not isinstance(getattr(doc, name), str):
            raise BadDocument(f"document {doc.external_id!r}: {name} is {_kind(getattr(doc, name))}; give text.")
    for name, value in (("external_id", doc.external_id), ("tenant", doc.tenant)):
        if bad := _IMPOSSIBLE.search(value):
            raise BadDocument(
                f"{name} {value[:200]!a} holds {bad.group()!a} at {bad.start()}, which PostgreSQL cannot store; it is "
                "not removed, since identity would change. Choose another."
            )
        if len(value.encode()) > MAX_ID_BYTES:
            raise BadDocument(f"{name} {value[:60]!r}… is longer than {MAX_ID_BYTES} bytes.")
    if not doc.external_id.strip():
        raise BadDocument("external_id is empty; every document needs one that stays the same between loads.")
    if doc.format not in ("text", "markdown"):
        raise BadDocument(f"document {doc.external_id!r}: format {doc.format!r} is neither 'text' nor 'markdown'.")


def check_headings(doc: Document) -> None:
    """Raises `BadDocument` unless the given headings stand inside the text, in ascending order."""
    last = -1
    for heading in doc.headings or ():
        if heading.level < 1 or not last < heading.start < len(doc.text):
            raise BadDocument(
                f"document {doc.external_id!r}: {heading!r} does not fit a text of {len(doc.text)} characters; "
                "starts must ascend and levels begin at 1."
            )
        last = heading.start


def _moved(before: str, after: str, headings: Iterable[Heading]) -> tuple[Heading, ...]:
    """`headings` with the places they have after cleaning: the text is cleaned from heading to heading."""
    pieces, moved, last, length = list[str](), list[Heading](), 0, 0
    for heading in headings:
        pieces.append(clean_text(before[last : heading.start])[0])
        last, length = heading.start, length + len(pieces[-1])
        title = " ".join(clean_text(heading.title)[0].split())
        moved.append(Heading(heading.level, title, length))
    pieces.append(clean_text(before[last:])[0])
    if "".join(pieces) != after:
        raise BadDocument("headings do not ascend, or one starts inside a line end; put each at the start of its line.")
    return tuple(moved)


# ── names by content ───────────────────────────────────────────────────────────────────────────────────────
