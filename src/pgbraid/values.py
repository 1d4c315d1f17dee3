"""The values that walk through the house, frozen, each with the words of docs/explanation/glossary.md.

A document goes in, is split into chunks, and comes back as a passage. A question becomes a decision, a plan,
hits and a result. No value knows how it was made, and none is changed once made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Json = Any  # what json.loads gives
Vectors = NDArray[np.float32]  # shape (n, dimensions)
Status = Literal["found", "nothing", "failed"]
Metric = Literal["cosine", "ip", "l2"]
Fusion = Literal["zscore", "minmax", "rrf"]
Overflow = Literal["reject", "truncate", "window"]
Reads = Literal["chunk", "chunks", "neighbours", "document"]
EMPTY: Mapping[str, Any] = MappingProxyType({})


# ── documents on their way in ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: its level (1 is the highest), its words, and where its line starts in the text."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """What a person wrote, what a prompt gets: the parent of its chunks.

    Identity is (collection, tenant, external_id). `metadata` is JSON; dates are stored as ISO 8601 text in UTC.
    `headings` is None when the splitter shall find them by `format`.
    """

    external_id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    tenant: str = ""
    format: Literal["text", "markdown"] = "text"
    headings: tuple[Heading, ...] | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that is embedded and matched; addressed (document, ordinal).

    `document.text[start:end] == text`. `context` is the title and the heading path above the chunk, one line;
    it is embedded and indexed with the text, but is not part of it.
    """

    ordinal: int
    start: int
    end: int
    text: str
    headings: tuple[str, ...] = ()
    context: str = ""

    @property
    def embedded_text(self) -> str:
        """What the embedder reads."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class Rejected:
    """A document that was not stored, and why; or one that was stored after cleaning."""

    external_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. Counts are documents unless they say chunks; `notes` say what was left out, and why.

    `resumed` are the documents at the beginning that an interrupted load of the same name had written: they were
    passed over and count nowhere else.
    """

    collection: str
    seen: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks_written: int = 0
    chunks_kept: int = 0
    embedded: int = 0
    rejected: tuple[Rejected, ...] = ()
    cleaned: tuple[Rejected, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    resumed: int = 0
    notes: tuple[str, ...] = ()


# ── what a collection is ───────────────────────────────────────────────────────────────────────────────────


class Tokenizer(Protocol):
    """Says where the tokens of a text stand: character spans, in order, not overlapping."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]: ...


class Embedder(Protocol):
    """Turns texts into vectors. `fingerprint` changes whenever the same text would give another vector."""

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...


class Reranker(Protocol):
    """Scores (question, text) pairs: one raw score per text, in the order given, higher is better.

    `blend` is the weight of this score against the fused score when both are scaled to 0..1 over the
    candidates; 1.0 means that this score alone decides the order.
    """

    @property
    def identity(self) -> str: ...

    @property
    def blend(self) -> float: ...

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """An embedder as the catalogue knows it: how to load it and what it must be."""

    name: str
    kind: str
    model: str
    dimensions: int
    metric: Metric = "cosine"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 0
    fingerprint: str = ""
    options: Mapping[str, Json] = field(default_factory=dict)
    id: int = 0


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are split: sizes in the embedder's own tokens."""

    tokens: int = 200
    overlap: int = 30


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The HNSW index of a collection. `storage` is the type in the index; `exact_below` the number of rows
    up to which every row is compared instead."""

    storage: Literal["halfvec", "vector"] = "halfvec"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 100
    exact_below: int = 10_000


@dataclass(frozen=True, slots=True)
class Collection:
    """A named knowledge base: its own embedder, language, chunking, permissions, physical tables."""

    id: int
    name: str
    description: str
    language: str
    text_config: str
    embedder: EmbedderRecord
    chunking: Chunking
    index: VectorIndex
    k1: float
    b: float
    document_table: str
    chunk_table: str
    tenants: bool = False
    documents: int = 0
    chunks: int = 0
    average_length: float = 0.0
    revision: int = 0


@dataclass(frozen=True, slots=True)
class CollectionSpec:
    """How a collection shall be made."""

    name: str
    embedder: str
    description: str = ""
    language: str = "multilingual"
    chunking: Chunking | None = None
    index: VectorIndex = VectorIndex()
    k1: float = 1.2
    b: float = 0.75
    tenants: bool = False


# ── how to retrieve ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Profile:
    """How to retrieve. Thresholds apply to a branch before fusion, in that branch's own metric.

    `evidence_weight` counts in z-score fusion over several collections: how much it matters how well a collection's
    best chunk matches the question's words, compared with the best of all collections; 0 for not at all.

    A reranker reads `rerank_reads` of each document, and the document's score is the mean of its best `rerank_top_m`
    scores. `rerank_overflow` says what becomes of a text that is too long for it. `rerank_budget_ms` is how long it may
    take; what it did not get to keeps the fused order. `rerank_blend` replaces the reranker's own.
    """

    name: str = "default"
    top_k: int = 5
    candidates: int = 100
    fusion: Fusion = "zscore"
    rrf_k: int = 60
    dense_weight: float = 1.0
    lexical_weight: float = 1.0
    evidence_weight: float = 4.0
    dense_threshold: float | None = None
    lexical_threshold: float | None = None
    rerank: str | None = None
    rerank_top_k: int = 30
    rerank_reads: Reads = "chunk"
    rerank_top_m: int = 1
    rerank_overflow: Overflow = "reject"
    rerank_blend: float | None = None
    rerank_budget_ms: int | None = None
    rerank_on_failure: Literal["keep_order", "fail"] = "keep_order"
    rerank_strict: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A collection that could be asked. `score` is None when the selector gives none."""

    name: str
    score: float | None = None
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One selector's part in a decision: what it scored, by which thresholds, and what came of it.

    `scores` are (route, score), best first; `policy` is what its not choosing led to; `version` is the embedder's
    fingerprint where it used one.
    """

    selector: str
    outcome: Literal["chosen", "empty", "unsure", "failed"]
    reason: str
    routes: tuple[str, ...] = ()
    scores: tuple[tuple[str, float], ...] = ()
    threshold: float | None = None
    margin: float | None = None
    version: str = ""
    policy: str | None = None
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The record of one routing: who chose what, from what, why, by which policy, how long.

    `steps` are the selectors that were asked, in order; none where the caller named collections.
    """

    selector: str
    chosen: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    reason: str
    policy: str | None = None
    profile: str | None = None
    milliseconds: float = 0.0
    steps: tuple[Step, ...] = ()


# ── what comes back ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class BranchScore:
    """Where a chunk stood in one branch:

    rank from 1, raw score with its metric, and what it added to the fused score.
    """

    branch: str
    rank: int
    score: float
    metric: str
    contribution: float


@dataclass(frozen=True, slots=True)
class MatchedChunk:
    """A chunk that matched, where it stands in the document, and its scores. `document.text[start:end] == text`."""

    ordinal: int
    start: int
    end: int
    text: str
    headings: tuple[str, ...]
    fused_score: float
    rerank_score: float | None
    branches: tuple[BranchScore, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A document that came back, with its best chunk's scores and every chunk that matched, best first.

    `rerank_score` is as the reranker gave it; `rerank_probability` is its sigmoid where it is a logit.
    """

    collection: str
    external_id: str
    title: str
    text: str
    metadata: Mapping[str, Json]
    fused_score: float
    rerank_score: float | None
    chunks: tuple[MatchedChunk, ...]
    rerank_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A part that failed while the rest went on: which one, why, and PostgreSQL's code where there is one."""

    part: str
    reason: str
    sqlstate: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened: milliseconds by stage, counts, round trips, and what was done in another way than usual."""

    milliseconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    round_trips: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a question.

    `nothing` is not `failed`; `degraded` means that a part failed and the rest is here; `underfilled` that fewer
    passages than asked came although more documents may match; `approximate` that an index may have missed some.
    """

    question: str
    status: Status
    passages: tuple[Passage, ...]
    decision: Decision
    trace: Trace
    degraded: bool = False
    underfilled: bool = False
    approximate: bool = False
    failures: tuple[Failure, ...] = field(default=())
