"""Documents made ready for writing:

cleaned, hashed, split, and which of their chunks need a vector. Pure but for the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgbraid.clean import clean_document
from pgbraid.errors import BadDocument
from pgbraid.identity import chunk_hash, document_hash, document_id
from pgbraid.split import split
from pgbraid.values import Chunk, Chunking, Document, Rejected, Tokenizer, Vectors


@dataclass(frozen=True, slots=True)
class Draft:
    """A clean document with its hash; `id` is its key."""

    id: int
    document: Document
    hash: bytes


@dataclass(frozen=True, slots=True)
class Drafts:
    """A batch, cleaned: what can go on, what cannot, and what was changed on the way."""

    good: tuple[Draft, ...]
    rejected: tuple[Rejected, ...]
    cleaned: tuple[Rejected, ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A draft with its chunks."""

    draft: Draft
    chunks: tuple[Chunk, ...]
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be written. A chunk without a vector keeps the one that is stored under the same hash."""

    document: Document
    hash: bytes
    chunks: tuple[Chunk, ...]
    chunk_hashes: tuple[bytes, ...]
    vectors: tuple[Vectors | None, ...]

    @property
    def id(self) -> int:
        return document_id(self.document.tenant, self.document.external_id)


def draft(batch: Iterable[object], tenant: str | None = None) -> Drafts:
    """Clean a batch. Of two documents with one identity the later counts, as it would in two batches."""
    good: dict[tuple[str, str], Draft] = {}
    rejected: list[Rejected] = []
    cleaned: list[Rejected] = []
    for item in batch:
        if isinstance(item, Rejected):
            rejected.append(item)
            continue
        if not isinstance(item, Document):
            rejected.append(Rejected("", f"what came is no Document but {type(item).__qualname__}: {item!r:.80}"))
            continue
        try:
            document, notes = clean_document(_of_tenant(item, tenant))
        except BadDocument as error:
            rejected.append(Rejected(str(item.external_id), str(error)))
            continue
        if notes:
            cleaned.append(Rejected(document.external_id, "; ".join(notes)))
        if (document.tenant, document.external_id) in good:
            cleaned.append(Rejected(document.external_id, "came twice in one batch; the later one counts"))
        identity = document_id(document.tenant, document.external_id)
        good[document.tenant, document.external_id] = Draft(identity, document, document_hash(document))
    return Drafts(tuple(good.values()), tuple(rejected), tuple(cleaned))


def _of_tenant(document: Document, tenant: str | None) -> Document:
    from dataclasses import replace

    return document if tenant is None or document.tenant else replace(document, tenant=tenant)


def cut(drafts: Sequence[Draft], tokenizer: Tokenizer, chunking: Chunking) -> tuple[list[Pieces], list[Rejected]]:
    """Split drafts into chunks; a document without any text to embed is rejected."""
    pieces: list[Pieces] = []
    rejected: list[Rejected] = []
    for one in drafts:
        chunks = split(one.document, tokenizer, chunking)
        if chunks:
            pieces.append(Pieces(one, chunks, tuple(map(chunk_hash, chunks))))
        else:
            rejected.append(Rejected(one.document.external_id, "the document has no text to search"))
    return pieces, rejected


def texts_without_vector(pieces: Sequence[Pieces], stored: Mapping[int, frozenset[bytes]]) -> dict[bytes, str]:
    """The texts that need a vector, by chunk hash, each once;

    a text that its document already has stored needs none.
    """
    return {
        digest: chunk.embedded_text
        for piece in pieces
        for chunk, digest in zip(piece.chunks, piece.hashes, strict=True)
        if digest not in stored.get(piece.draft.id, frozenset())
    }
