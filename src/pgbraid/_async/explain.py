"""A search once more, under EXPLAIN: how PostgreSQL ran its statement."""

from __future__ import annotations

import json

from pgbraid._async import search
from pgbraid._async.decide import Request
from pgbraid._async.link import Database
from pgbraid.compose import explained
from pgbraid.explained import Explanation, explanation
from pgbraid.models import Models


async def explain(database: Database, models: Models, request: Request) -> Explanation:
    """Answer a question, then run its statement again with the same settings under EXPLAIN (ANALYZE, BUFFERS).

    Raises what a search raises.
    """
    run, result = await search.followed(database, models, request)
    if run.composed is None or run.plan is None:
        return Explanation(result)
    asked = explained(run.composed)
    async with database.link() as link:
        rows = (await link.read([(asked.statement, asked.params)], run.plan.tenant, search.knobs(run.plan)))[0]
    plan = rows[0]["QUERY PLAN"]
    found = (json.loads(plan) if isinstance(plan, str) else plan)[0]
    names = {f"{branch.method}_{branch.number}": branch.name for branch in run.plan.branches}
    return explanation(result, run.composed.pasted(), found, names)
