"""The id of a document:

derived from who it belongs to and what it is called, the same on every machine and at every load.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from pgbraid.errors import SettingsError
from pgbraid.values import Collection


def document_id(tenant: str, external_id: str) -> int:
    """A positive 63-bit number from tenant and external id.

    With a hundred million documents in one collection the chance that any two share a number is about one in two
    thousand; the writer compares external ids and reports such a document instead of overwriting the other.
    """
    framed = f"{len(tenant)}:{tenant}{external_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(framed, digest_size=8).digest(), "big") >> 1


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
