"""What the branches of one collection give for a question, before fusion: the raw material of `measure.replay`.

The branch statements are those of a search; nothing is fused, reranked or widened.
"""

from __future__ import annotations

from dataclasses import replace

from pgbraid._async.decide import Request, look_and_decide, profile_of, start
from pgbraid._async.link import Database, Link
from pgbraid._async.search import knobs
from pgbraid.compose import branch_statements, compose_lift
from pgbraid.compute import in_executor
from pgbraid.errors import SettingsError
from pgbraid.lexical import weigh
from pgbraid.measure.values import BranchHit, Observed
from pgbraid.models import Models
from pgbraid.plan import Plan, make_plan


async def observe(database: Database, models: Models, asked: Request) -> Observed:
    """The hits of both branches. Raises what a search raises, and SettingsError for more than one collection."""
    if len(asked.collections) != 1:
        raise SettingsError(f"One collection is observed at a time, not {len(asked.collections)}")
    run = start(database, models, asked)
    look, decision = await look_and_decide(run)
    known = [c for c in look.collections if c.name in decision.chosen]
    profile = replace(profile_of(run.request, look, decision), rerank=None, dense_weight=1.0, lexical_weight=1.0)
    plan = make_plan(known, weigh(look.words, known), profile, tenant=asked.tenant, condition=run.condition)
    embedder = await in_executor(models.embedder, known[0].embedder)
    vector = (await in_executor(embedder.embed_queries, [run.request.question]))[0]
    async with database.link() as link:
        statements = branch_statements(plan, {known[0].embedder.id: vector}, link.facts.vector_schema)
        found = await link.read([(s.statement, s.params) for s in statements], asked.tenant, knobs(plan))
        names = await _names(link, plan, {row["document_id"] for rows in found for row in rows})
    hits = [
        BranchHit(b.method, row["document_id"], names[row["document_id"]], row["ordinal"], row["rank"], row["score"])
        for b, rows in zip(plan.branches, found, strict=True)
        for row in rows
        if row["document_id"] in names
    ]
    return Observed(run.request.question, tuple(hits))


async def _names(link: Link, plan: Plan, documents: set[int]) -> dict[int, str]:
    """External ids by key; a document that was removed meanwhile is missing."""
    wanted = [(plan.collections[0].id, document) for document in sorted(documents)]
    lift = compose_lift(plan.collections, wanted, plan.tenant)
    rows = (await link.read([(lift.statement, {**lift.params, "with_text": False})], plan.tenant))[0]
    return {row["document_id"]: row["external_id"] for row in rows if row["external_id"] is not None}
