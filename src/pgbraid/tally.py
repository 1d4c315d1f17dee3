"""The counts of a load while it goes on, and the report that they become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pgbraid.values import IngestReport, Rejected


@dataclass(slots=True)
class Tally:
    """The report while it grows."""

    collection: str
    resumed: int = 0
    seen: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks_written: int = 0
    chunks_kept: int = 0
    embedded: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    cleaned: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def report(self, milliseconds: Mapping[str, float]) -> IngestReport:
        return IngestReport(
            collection=self.collection,
            seen=self.seen,
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            chunks_written=self.chunks_written,
            chunks_kept=self.chunks_kept,
            embedded=self.embedded,
            rejected=tuple(self.rejected),
            cleaned=tuple(self.cleaned),
            notes=tuple(self.notes),
            milliseconds=milliseconds,
            resumed=self.resumed,
        )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a load would do. `to_embed` are the chunks that need a vector, `tokens` theirs; `seconds` is what embedding
    them would take here, measured on a sample; `text_bytes` and `vector_bytes` are sizes before compression.
    """

    collection: str
    seen: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    rejected: int = 0
    chunks: int = 0
    to_embed: int = 0
    tokens: int = 0
    text_bytes: int = 0
    dimensions: int = 0
    seconds: float = 0.0

    @property
    def vector_bytes(self) -> int:
        """Of the vectors in the table: 4 a dimension, 8 a vector."""
        return self.chunks * (4 * self.dimensions + 8)

    def plus(self, other: Rehearsal) -> Rehearsal:
        """Both together."""
        names = ("seen", "added", "changed", "unchanged", "rejected", "chunks", "to_embed", "tokens", "text_bytes")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def timed(self, seconds: float) -> Rehearsal:
        """With the time for all texts, when one takes so many seconds."""
        return replace(self, seconds=seconds * self.to_embed)
