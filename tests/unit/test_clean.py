"""Cleaning: what is put right is noted, what cannot be is refused with its key, and nothing given is changed."""

from __future__ import annotations

import copy
import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgbraid.clean import clean_document, clean_metadata, clean_text
from pgbraid.errors import BadDocument
from pgbraid.values import Document, Heading

ANY_TEXT = st.text(st.characters() | st.sampled_from("\r\n\x00") | st.characters(categories=["Cs"]))


def test_a_nul_byte_is_removed_and_reported() -> None:
    assert clean_text("a\x00b\x00\x00c") == ("abc", ("removed 3 NUL bytes",))
    assert clean_text("a\x00") == ("a", ("removed 1 NUL byte",))


def test_a_lone_surrogate_is_replaced_and_reported() -> None:
    assert clean_text("a\udc80b") == ("a\ufffdb", ("replaced 1 lone surrogate by U+FFFD",))


def test_a_surrogate_pair_becomes_the_character_meant() -> None:
    assert clean_text("\ud83d\ude00") == ("😀", ("joined 1 surrogate pair into the character meant",))


def test_line_ends_are_made_one_without_a_note() -> None:
    assert clean_text("a\r\nb\rc\n\r\n") == ("a\nb\nc\n\n", ())


@given(ANY_TEXT)
def test_clean_text_can_be_stored_and_is_cleaned_only_once(text: str) -> None:
    cleaned, _ = clean_text(text)
    assert "\x00" not in cleaned and "\r" not in cleaned
    cleaned.encode()
    assert clean_text(cleaned) == (cleaned, ())


def test_metadata_becomes_plain_json() -> None:
    class Colour(StrEnum):
        RED = "red"

    moment = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    given_values: dict[str, Any] = {
        "aware": moment,
        "naive": datetime(2026, 1, 1, 8),
        "day": date(2026, 1, 1),
        "uuid": UUID(int=1),
        "decimals": (Decimal("0.1"), Decimal("3.00"), Decimal("1E+2")),
        "numpy": [np.float32(0.5), np.int64(3), np.bool_(True), np.str_("x"), np.datetime64("2026-01-01")],
        "enum": Colour.RED,
        "inner": MappingProxyType({"a": None, "b": True}),
    }
    cleaned, notes = clean_metadata(given_values)
    assert cleaned == {
        "aware": "2026-01-01T00:00:00+00:00",
        "naive": "2026-01-01T08:00:00",
        "day": "2026-01-01",
        "uuid": "00000000-0000-0000-0000-000000000001",
        "decimals": [0.1, 3, 100],
        "numpy": [0.5, 3, True, "x", "2026-01-01"],
        "enum": "red",
        "inner": {"a": None, "b": True},
    }
    assert notes == ()
    assert type(cleaned["enum"]) is str and type(cleaned["decimals"][1]) is int and type(cleaned["numpy"][2]) is bool
    assert json.loads(json.dumps(cleaned)) == cleaned


def test_metadata_keys_and_texts_are_cleaned_and_the_notes_name_the_key() -> None:
    cleaned, notes = clean_metadata({"a\x00": {"b": ["x\x00\r\n"]}})
    assert cleaned == {"a": {"b": ["x\n"]}}
    assert notes == ("metadata 'a\\x00': removed 1 NUL byte", "metadata 'a.b[0]': removed 1 NUL byte")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (np.float32("nan"), "nan"),
        (Decimal("NaN"), "NaN"),
        (Decimal("0.1234567890123456789"), "exactly"),
        (Decimal("1E+5000"), "exactly"),
        (b"x", "bytes"),
        ({1, 2}, "set"),
        (object(), "object"),
        (1j, "complex"),
        (np.array([1]), "numpy.ndarray"),
        (np.datetime64("2026-01-01T00:00:00", "ns"), "datetime64"),
        (np.bytes_(b"x"), "bytes"),
        (10**2000, "digits"),
        ({3: "x"}, "int"),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=8))), "UTC"),
    ],
)
def test_what_is_not_json_is_refused_naming_the_key(value: object, said: str) -> None:
    with pytest.raises(BadDocument, match=r"outer\.inner") as caught:
        clean_metadata({"outer": {"inner": value}})
    assert said in str(caught.value)


def test_keys_that_become_the_same_are_refused() -> None:
    with pytest.raises(BadDocument, match="same once cleaned"):
        clean_metadata({"a": 1, "a\x00": 2})


def test_nesting_of_32_is_kept_and_of_33_refused() -> None:
    def nested(levels: int) -> dict[str, Any]:
        return {"k": nested(levels - 1)} if levels > 1 else {}

    assert clean_metadata(nested(32))[0] == nested(32)
    with pytest.raises(BadDocument, match="deeper than 32"):
        clean_metadata(nested(33))


def test_metadata_that_multiplies_by_sharing_is_refused_quickly() -> None:
    bomb: list[Any] = ["x"]
    for _ in range(25):
        bomb = [bomb] * 10
    with pytest.raises(BadDocument, match="100,000"):
        clean_metadata({"bomb": bomb})


def test_metadata_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    with pytest.raises(BadDocument, match="deeper"):
        clean_metadata(loop)


def test_nothing_given_is_changed() -> None:
    metadata = {"a": ["x\x00", {"b": date(2026, 1, 1)}]}
    before = copy.deepcopy(metadata)
    cleaned, _ = clean_metadata(metadata)
    assert metadata == before
    assert cleaned["a"] is not metadata["a"]


def test_a_document_is_cleaned_with_notes_that_name_the_part() -> None:
    doc = Document("d1", "te\x00xt\r\n", title=" a\x00\n b ", metadata={"when": datetime(2026, 1, 1, tzinfo=UTC)})
    cleaned, notes = clean_document(doc)
    assert (cleaned.text, cleaned.title) == ("text\n", "a b")
    assert cleaned.metadata == {"when": "2026-01-01T00:00:00+00:00"}
    assert notes == ("text: removed 1 NUL byte", "title: removed 1 NUL byte")


def test_a_clean_document_stays_as_it_is() -> None:
    doc = Document("d1", "text", "title", {"a": 1}, "tenant", "markdown", (Heading(1, "text", 0),))
    assert clean_document(doc) == (doc, ())


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        (Document("d", ""), "no text"),
        (Document("d", " \n\x00\t"), "no text"),
        (Document("", "x"), "external_id is empty"),
        (Document("  ", "x"), "external_id is empty"),
        (Document("a\x00", "x"), r"external_id 'a\x00'"),
        (Document("a\udc80", "x"), r"external_id 'a\udc80'"),
        (Document("é" * 513, "x"), "1024 bytes"),
        (Document("d", "x", tenant="t\x00"), "tenant"),
        (Document("d", "x", tenant="t" * 1025), "tenant"),
        (Document(7, "x"), "external_id is int"),  # type: ignore[arg-type]
        (Document("d", b"x"), "text is bytes"),  # type: ignore[arg-type]
        (Document("d", "x", metadata=[1]), "list"),  # type: ignore[arg-type]
        (Document("d", "x", format="html"), "html"),  # type: ignore[arg-type]
        (Document("d", "x", headings=(Heading(1, "h", 1),)), "does not fit"),
        (Document("d", "abc", headings=(Heading(1, "h", 2), Heading(1, "h", 1))), "ascend"),
        (Document("d", "abc", headings=(Heading(0, "h", 0),)), "levels"),
        (Document("d", "a\r\nb", headings=(Heading(1, "h", 2),)), "line end"),
    ],
)
def test_a_document_that_cannot_be_stored_is_refused(doc: Document, said: str) -> None:
    with pytest.raises(BadDocument) as caught:
        clean_document(doc)
    assert said in str(caught.value)


def test_an_identity_of_exactly_1024_bytes_and_an_empty_tenant_are_kept() -> None:
    cleaned, _ = clean_document(Document("é" * 512, "x", tenant=""))
    assert cleaned.external_id == "é" * 512


@given(st.lists(ANY_TEXT, min_size=1, max_size=6))
def test_headings_still_point_at_their_lines_after_cleaning(bodies: list[str]) -> None:
    text, headings = "", []
    for i, body in enumerate(bodies):
        headings.append(Heading(1, f"h{i}", len(text)))
        text += f"@{i}@\r\n{body}\r\n"
    cleaned, _ = clean_document(Document("d", text, headings=tuple(headings)))
    assert cleaned.headings is not None
    for i, heading in enumerate(cleaned.headings):
        assert cleaned.text[heading.start :].startswith(f"@{i}@\n")
