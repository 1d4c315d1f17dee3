"""What names a document, the same on every machine and at every load: its id, from whose it is and what it is called;
its hash, from what it says.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

from pgbraid.errors import BadDocument, SettingsError
from pgbraid.values import Chunk, Collection, Document


def document_id(tenant: str, external_id: str) -> int:
    """A positive 63-bit number from tenant and external id.

    With a hundred million documents in one collection the chance that any two share a number is about one in two
    thousand; the writer compares external ids and reports such a document instead of overwriting the other.
    """
    framed = f"{len(tenant)}:{tenant}{external_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(framed, digest_size=8).digest(), "big") >> 1


def check_tenant_text(tenant: object) -> None:
    """Raise SettingsError for what PostgreSQL cannot hold as the name of a tenant."""
    if not isinstance(tenant, str) or re.search("[\0\ud800-\udfff]", tenant):
        raise SettingsError(f"A tenant is text without NUL bytes and lone surrogates, not {tenant!a:.100}")


def check_tenant(collection: Collection, tenant: str) -> None:
    """Raise SettingsError when a tenant cannot be one, or is named in a collection that has none."""
    check_tenant_text(tenant)
    if tenant and not collection.tenants:
        raise SettingsError(
            f"Collection {collection.name!r} keeps no tenants apart, so nothing in it belongs to {tenant!r}. "
            "Leave the tenant out, or create the collection with tenants."
        )


def document_hash(doc: Document) -> bytes:
    """32 bytes (SHA-256) that change when title, text, format, metadata or headings of a cleaned document change.

    Identity is not part of it. Raises `BadDocument` when the metadata is not JSON: clean the document first.
    """
    return _sha256(_document_parts(doc))


def chunk_hash(chunk: Chunk) -> bytes:
    """32 bytes (SHA-256) of what the embedder reads: equal hashes may share a vector."""
    return hashlib.sha256(chunk.embedded_text.encode("utf-8", "surrogatepass")).digest()


def _document_parts(doc: Document) -> Iterator[str]:
    yield "pgbraid document 1"
    yield doc.title
    yield doc.text
    yield doc.format
    try:
        yield json.dumps(dict(doc.metadata), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadDocument(f"document {doc.external_id!r}: metadata is not JSON ({error}); clean it first.") from error
    yield "found by format" if doc.headings is None else f"{len(doc.headings)} headings"
    for heading in doc.headings or ():
        yield f"{heading.level} {heading.start} {heading.title}"


def _sha256(parts: Iterable[str]) -> bytes:
    """Every part is preceded by its length, so that no two lists of parts give the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.digest()
