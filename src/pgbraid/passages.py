"""Rows of the composed statement as passages. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgbraid.plan import Plan
from pgbraid.values import BranchScore, MatchedChunk, Passage, Reads


@dataclass(frozen=True, slots=True)
class Found:
    """A passage on its way.

    With it its keys, what a reranker reads of it, and the hash of the document that its chunks are of.
    """

    passage: Passage
    key: tuple[int, int]
    texts: tuple[str, ...]
    hash: bytes


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the statement gave: passages in fused order, and by branch number how many hits.

    `exact` is False where an index gave hits, or may have kept some back: one that gave none is not taken for exact.
    """

    found: tuple[Found, ...]
    hits: Mapping[int, int]
    exact: bool
    documents: int
    gone: int


def read_rows(rows: Sequence[Mapping[str, Any]], plan: Plan) -> Retrieved:
    """The passages of a plan from its rows.

    A row without a document is one that was removed meanwhile; it is counted in `gone`.
    """
    names = {c.id: c.name for c in plan.collections}
    branches = rows[0]["branches"] or [] if rows else []
    present = [row for row in rows if row["external_id"] is not None and row["chunks"][0]["text"] is not None]
    hits = {number: count for number, count, _ in branches}
    silent = [b for b in plan.branches if b.number not in hits]
    return Retrieved(
        found=tuple(_found(row, names[row["collection_id"]], plan) for row in present),
        hits=hits,
        exact=all(exact for _, _, exact in branches) and not any(b.way in ("index", "adaptive") for b in silent),
        documents=rows[0]["found"] if rows else 0,
        gone=len(rows) - len(present),
    )


def _found(row: Mapping[str, Any], collection: str, plan: Plan) -> Found:
    chunks = tuple(_chunk(chunk, plan) for chunk in row["chunks"] if chunk["text"] is not None)
    passage = Passage(
        collection=collection,
        external_id=row["external_id"],
        title=row["title"],
        text=row["text"] or "",
        metadata=row["metadata"],
        fused_score=chunks[0].fused_score,
        rerank_score=None,
        chunks=chunks,
    )
    texts = _read_by_reranker(row, plan.profile.rerank_reads)
    return Found(passage, (row["collection_id"], row["document_id"]), texts, bytes(row["hash"]))


def _read_by_reranker(row: Mapping[str, Any], reads: Reads) -> tuple[str, ...]:
    """The best chunk, or every chunk that matched, or the best one with its neighbours, or the whole document."""
    best, *others = [chunk for chunk in row["chunks"] if chunk["text"] is not None]
    if reads == "document":
        return (_under(row["title"], row["text"]),)
    if reads == "neighbours":
        start, end = best["around"]
        return (_under(best["context"], row["text"][start:end]),)
    return tuple(_under(one["context"], one["text"]) for one in (best, *(others if reads == "chunks" else ())))


def _under(above: str, text: str) -> str:
    return f"{above}\n{text}" if above else text


def _chunk(chunk: Mapping[str, Any], plan: Plan) -> MatchedChunk:
    by_number = {b.number: b for b in plan.branches}
    scores = [
        BranchScore(by_number[number].name, rank, float(score), by_number[number].metric, float(contribution))
        for number, rank, score, contribution in chunk["parts"]
    ]
    if chunk["prior"]:
        prior = float(chunk["prior"])
        share = math.exp(prior / plan.profile.evidence_weight)
        scores.append(BranchScore("evidence", 1, share, "share_of_best", prior))
    return MatchedChunk(
        ordinal=chunk["ordinal"],
        start=chunk["start"],
        end=chunk["end"],
        text=chunk["text"],
        headings=tuple(chunk["headings"]),
        fused_score=float(chunk["fused_score"]),
        rerank_score=None,
        branches=tuple(scores),
    )


def with_rerank(found: Found, score: float | None, scores: Mapping[str, float], plan: Plan, logit: bool) -> Found:
    """The passage with its rerank score beside the others, at the chunks that were scored too.

    `scores` has those of single texts; `logit` says whether the sigmoid of a score is a probability.
    """
    if score is None:
        return found
    chunks = list(found.passage.chunks)
    if plan.profile.rerank_reads in ("chunk", "chunks"):
        for place, text in enumerate(found.texts):
            chunks[place] = replace(chunks[place], rerank_score=scores.get(text))
    chance = (1 / (1 + math.exp(-score)) if score > -700 else 0.0) if logit else None
    passage = replace(found.passage, rerank_score=score, rerank_probability=chance, chunks=tuple(chunks))
    return replace(found, passage=passage)
