"""What a collection may be: checked before anything is made, so that a mistake costs nothing."""

from __future__ import annotations

from pgbraid.clean import storable
from pgbraid.errors import SettingsError
from pgbraid.values import Chunking, CollectionSpec, EmbedderRecord


def default_chunking(record: EmbedderRecord) -> Chunking:
    """The embedder may read less than the usual chunk; the title and headings above a chunk need room too."""
    usual = Chunking()
    if record.max_tokens and record.max_tokens < usual.tokens + 40:
        tokens = max(8, record.max_tokens - 40)
        return Chunking(tokens, min(usual.overlap, tokens // 4))
    return usual


def check_spec(spec: CollectionSpec, record: EmbedderRecord, chunking: Chunking) -> None:
    """Raise SettingsError for what PostgreSQL or the embedder could not keep."""
    if not spec.name.strip() or len(spec.name) > 100 or not storable(spec.name):
        raise SettingsError(f"A collection's name is 1 to 100 characters, not {spec.name!r:.120}")
    if record.max_tokens and chunking.tokens > record.max_tokens:
        raise SettingsError(
            f"Chunks of {chunking.tokens} tokens do not fit embedder {record.name!r}, which reads {record.max_tokens}: "
            "the rest would not be searched by meaning. Choose fewer tokens."
        )
    if chunking.tokens < 8 or not 0 <= chunking.overlap <= chunking.tokens // 2:
        raise SettingsError(
            f"Chunks have at least 8 tokens and overlap by at most half, not {chunking.tokens} and {chunking.overlap}"
        )
    if spec.index.storage not in ("halfvec", "vector"):
        raise SettingsError(f"index storage is halfvec or vector, not {spec.index.storage!r}")
    if spec.index.storage == "vector" and record.dimensions > 2000:
        raise SettingsError(
            f"A vector index holds at most 2000 dimensions, {record.name!r} has {record.dimensions}: use halfvec"
        )
