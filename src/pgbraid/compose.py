"""One statement from files: a CTE a branch, UNION ALL, fusion, collapse to parents, chunks and documents.

This module names CTEs and parameters and does nothing else: every piece is a file under `sql/` that can be run by
itself. The text that comes out can be pasted into psql (`Composed.pasted`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from psycopg import sql

from pgbraid.db.statements import Statement, indented, statement
from pgbraid.db.vectors import as_text
from pgbraid.lexical import LexicalQuery
from pgbraid.plan import EVIDENCE_FLOOR, Branch, Plan
from pgbraid.values import Collection

LEXICAL = {way: statement(f"retrieve/{way}") for way in ("lexical", "lexical_pruned")}
DENSE = {way: statement(f"retrieve/dense_{way}") for way in ("exact", "index", "adaptive")}
FUSE = {fusion: statement(f"retrieve/fuse_{fusion}") for fusion in ("zscore", "minmax", "rrf")}
COLLAPSE = statement("retrieve/collapse")
PASSAGES = statement("retrieve/passages")
CHUNKS = statement("retrieve/chunks")
DOCUMENTS = statement("parents/documents")
LIFT = statement("parents/lift")

NEAREST = {"cosine": "<=>", "ip": "<#>", "l2": "<->"}
BASE = {"cosine": 1.0, "ip": 0.0, "l2": 0.0}


@dataclass(frozen=True, slots=True)
class Composed:
    """A statement with its values."""

    statement: Statement
    params: Mapping[str, Any]

    def pasted(self) -> str:
        """The text with the values written in, for psql."""
        return re.sub(r"%\((\w+)\)s", lambda m: sql.Literal(self.params[m[1]]).as_string(None), self.statement.text)


def compose(plan: Plan, vectors: Mapping[int, NDArray[Any]], schema: str) -> Composed:
    """The statement of a plan.

    `vectors` has the question's vector, shape (d,), by embedder id; `schema` is where pgvector lives.
    """
    params = _shared(plan)
    ctes = [
        f"{b.method}_{b.number} AS MATERIALIZED (\n{indented(_branch(b, plan, vectors, schema, params))}\n)"
        for b in plan.branches
    ]
    fused = _fuse(plan, ctes, params)
    text = PASSAGES.region("fused", fused)
    text = text.region("chunks", _chunks(plan.collections, plan.tenant, params))
    text = text.region("parents", _parents(plan.collections, "fused", plan.tenant, params))
    return Composed(_named("retrieve/composed", text.text), _used(text.text, params))


def explained(asked: Composed) -> Composed:
    """The statement that tells how PostgreSQL runs this one; it gives one row, JSON."""
    text = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)\n{asked.statement.text}"
    return Composed(_named("retrieve/composed explained", text), asked.params)


def branch_statements(plan: Plan, vectors: Mapping[int, NDArray[Any]], schema: str) -> list[Composed]:
    """Each branch of a plan as a statement by itself, as it would stand in the composed one."""
    found = []
    for branch in plan.branches:
        params = _shared(plan)
        text = _branch(branch, plan, vectors, schema, params)
        found.append(Composed(_named(f"retrieve/{branch.way}", text), _used(text, params)))
    return found


def _shared(plan: Plan) -> dict[str, Any]:
    """The parameters that every branch has in common."""
    return {
        "filter": plan.filter,
        "candidates": plan.candidates,
        "documents": plan.documents,
        "with_text": plan.with_text,
        "neighbours": plan.profile.rerank is not None and plan.profile.rerank_reads == "neighbours",
    }


def compose_lift(collections: Sequence[Collection], wanted: Sequence[tuple[int, int]], tenant: str) -> Composed:
    """Documents in order, by (collection id, document id)."""
    params: dict[str, Any] = {
        "collections": [c for c, _ in wanted],
        "document_ids": [d for _, d in wanted],
        "with_text": True,
    }
    text = LIFT.region("parents", _parents(collections, "wanted", tenant, params)).text
    return Composed(_named("parents/lift composed", text), _used(text, params))


def _branch(
    branch: Branch, plan: Plan, vectors: Mapping[int, NDArray[Any]], schema: str, params: dict[str, Any]
) -> str:
    """The query of a branch; its own parameters are numbered, what all share keeps its name."""
    collection, embedder = branch.collection, branch.collection.embedder
    own: dict[str, Any] = {"threshold": branch.threshold, "tenant": tenant_in(collection, plan.tenant)}
    if branch.method == "lexical":
        words = plan.words[collection.id]
        own |= _asked(words)
        body = LEXICAL[_lexical_way(words)].fill(chunk=collection.chunk_table, ext=schema)
    else:
        vector = f"vector_{embedder.id}"
        params[vector] = params.get(vector) or as_text(vectors[embedder.id])
        own |= {"base": BASE[embedder.metric]}
        holes: dict[str, str | int] = {
            "chunk": collection.chunk_table,
            "ext": schema,
            "nearest": NEAREST[embedder.metric],
        }
        if branch.way != "exact":
            holes |= {"storage": collection.index.storage, "dim": embedder.dimensions}
        if branch.way == "adaptive":
            own |= {"exact_below": collection.index.exact_below, "collection": collection.id}
        body = DENSE[branch.way].fill(**holes).renamed({"vector": vector})
    params |= {f"{name}_{branch.number}": value for name, value in own.items()}
    return body.renamed({name: f"{name}_{branch.number}" for name in own}).text


def _lexical_way(words: LexicalQuery) -> str:
    return "lexical" if words.ladder is None else "lexical_pruned"


def _asked(words: LexicalQuery) -> dict[str, Any]:
    """The parameters of a lexical branch that come from the question's words."""
    if words.ladder is None:
        return {"query": words.query, "terms": words.terms}
    rungs = words.ladder
    return {
        "queries": list(rungs.queries),
        "floors": list(rungs.floors),
        "start": rungs.start,
        "terms": words.terms,
    }


def _fuse(plan: Plan, ctes: Sequence[str], params: dict[str, Any]) -> str:
    params |= {
        "branch_collection": [b.collection.id for b in plan.branches],
        "branch_pool": [b.pool for b in plan.branches],
        "branch_weight": [float(b.weight) for b in plan.branches],
        "rrf_k": plan.profile.rrf_k,
        "evidence_branch": list(plan.evidence_branches),
        "evidence_weight": float(plan.profile.evidence_weight),
        "evidence_floor": EVIDENCE_FLOOR,
    }
    columns = "b.document_id, b.ordinal, b.rank, b.score, b.exact"
    hits = "\nUNION ALL\n".join(
        f"SELECT {b.number} AS branch, {columns} FROM {b.method}_{b.number} AS b" for b in plan.branches
    )
    weighed = FUSE[plan.profile.fusion].region("hits", hits).text
    weighed = weighed.replace("WITH hit", "WITH " + ",\n\n".join([*ctes, "hit"]), 1)
    return COLLAPSE.region("parts", weighed).text


def _chunks(collections: Sequence[Collection], tenant: str, params: dict[str, Any]) -> str:
    """The chunks of the CTE `fused`, each collection's from its own table."""
    wanted = "SELECT fused.collection_id, fused.document_id, fused.ordinal FROM fused"
    return _each([(c, CHUNKS.fill(chunk=c.chunk_table)) for c in collections], wanted, tenant, params)


def _parents(collections: Sequence[Collection], source: str, tenant: str, params: dict[str, Any]) -> str:
    """The documents of a CTE, each collection's from its own table."""
    wanted = f"SELECT DISTINCT {source}.collection_id, {source}.document_id FROM {source}"
    return _each([(c, DOCUMENTS.fill(document=c.document_table)) for c in collections], wanted, tenant, params)


def _each(filled: Sequence[tuple[Collection, Statement]], wanted: str, tenant: str, params: dict[str, Any]) -> str:
    parts = []
    for collection, source in filled:
        own = {"collection": collection.id, "tenant": tenant_in(collection, tenant)}
        params |= {f"{name}_of_{collection.id}": value for name, value in own.items()}
        renamed = source.region("wanted", wanted).renamed({name: f"{name}_of_{collection.id}" for name in own})
        parts.append(renamed.text)
    return "\nUNION ALL\n".join(parts)


def tenant_in(collection: Collection, tenant: str) -> str:
    """Whose rows are read: the tenant's where the collection keeps tenants apart, everybody's where it does not."""
    return tenant if collection.tenants else ""


def _named(name: str, text: str) -> Statement:
    return Statement(name=name, text=f"/* pgbraid:{name} */\n{text}")


def _used(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    names = set(re.findall(r"%\((\w+)\)s", text))
    return {name: params[name] for name in params if name in names}
