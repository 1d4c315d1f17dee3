"""Names of documents: equal where nothing that counts differs, different where anything does."""

from __future__ import annotations

from datetime import date
from types import MappingProxyType

import pytest

from pgbraid.errors import BadDocument
from pgbraid.identity import chunk_hash, document_hash, document_id
from pgbraid.values import Chunk, Document, Heading


def test_an_id_is_a_positive_number_of_63_bits_that_tenant_and_name_decide() -> None:
    pairs = [("", "a"), ("a", ""), ("1:", "a"), ("", "1:a"), ("t", "a"), ("", "\ud800")]
    made = [document_id(*pair) for pair in pairs]
    assert len(set(made)) == len(pairs) and all(0 <= one < 2**63 for one in made)
    assert made == [document_id(*pair) for pair in pairs]


def test_the_document_hash_changes_with_every_part_but_not_with_key_order_or_identity() -> None:
    doc = Document("d", "text", "title", {"a": 1, "b": [1.5, "x"]})
    same = Document("e", "text", "title", MappingProxyType({"b": [1.5, "x"], "a": 1}), tenant="t")
    others = [
        Document("d", "texts", "title", {"a": 1, "b": [1.5, "x"]}),
        Document("d", "text", "titles", {"a": 1, "b": [1.5, "x"]}),
        Document("d", "ttext", "itle", {"a": 1, "b": [1.5, "x"]}),
        Document("d", "text", "title", {"a": "1", "b": [1.5, "x"]}),
        Document("d", "text", "title", {"a": 1, "b": [1.5, "x"]}, format="markdown"),
        Document("d", "text", "title", {"a": 1, "b": [1.5, "x"]}, headings=()),
        Document("d", "text", "title", {"a": 1, "b": [1.5, "x"]}, headings=(Heading(1, "text", 0),)),
        Document("d", "text", "title", {"a": 1, "b": [1.5, "x"]}, headings=(Heading(2, "text", 0),)),
    ]
    assert document_hash(doc) == document_hash(same)
    assert len({document_hash(doc), *map(document_hash, others)}) == 1 + len(others)
    assert len(document_hash(doc)) == 32


def test_hashing_metadata_that_was_not_cleaned_is_refused() -> None:
    with pytest.raises(BadDocument, match="clean it first"):
        document_hash(Document("d", "x", metadata={"when": date(2026, 1, 1)}))


def test_the_chunk_hash_is_of_what_the_embedder_reads() -> None:
    assert chunk_hash(Chunk(0, 0, 1, "x")) == chunk_hash(Chunk(5, 7, 8, "x", ("h",)))
    assert chunk_hash(Chunk(0, 0, 1, "x")) != chunk_hash(Chunk(0, 0, 1, "x", context="title"))
