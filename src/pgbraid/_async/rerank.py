"""The rerank stage of a search: the best documents anew, in an executor, with a deadline and a policy for failures.

Scores that were computed before come from memory and, where the setting says so, from a table that processes share.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from threading import Event

from pgbraid._async.decide import Run
from pgbraid.compute import in_executor
from pgbraid.db.statements import statement
from pgbraid.errors import CatalogError, MissingExtra, PgbraidError, SettingsError
from pgbraid.models import calling
from pgbraid.passages import Found, with_rerank
from pgbraid.plan import Plan
from pgbraid.rerank import Known, Scored, Wanted, order, pair_keys, score
from pgbraid.values import EmbedderRecord, Failure, Reranker

KNOWN_SCORES = statement("rerank/known_scores")
KEEP_SCORES = statement("rerank/keep_scores")


async def reranked(run: Run, plan: Plan, found: list[Found], embedders: Mapping[str, EmbedderRecord]) -> list[Found]:
    """The best by the reranker's scores. When it fails the fused order stays, and the result says so."""
    best = found[: plan.profile.rerank_top_k]
    budget, stop = plan.profile.rerank_budget_ms, Event()
    deadline = None if budget is None else time.monotonic() + budget / 1000  # waiting for the model's thread counts
    wanted = Wanted(plan.profile.rerank_overflow, plan.profile.rerank_top_m, plan.profile.rerank_strict, deadline, stop)
    try:
        with run.clock.stage("rerank"):
            ranked = await _ranked(run, plan, best, embedders, wanted)
    except (CatalogError, MissingExtra, SettingsError):  # asked for what is not there: not a failure on the way
        raise
    except PgbraidError as error:
        if plan.profile.rerank_on_failure == "fail":
            raise
        run.failures.append(Failure(f"reranker {plan.profile.rerank}", str(error)))
        return found
    return ranked + found[len(best) :]


async def _ranked(
    run: Run, plan: Plan, best: Sequence[Found], embedders: Mapping[str, EmbedderRecord], wanted: Wanted
) -> list[Found]:
    name, texts = plan.profile.rerank or "", [f.texts for f in best]
    reranker = await in_executor(run.models.reranker, name, embedders)
    await _fetch(run, pair_keys(reranker, run.request.question, texts, wanted))
    scored = await in_executor(_scored, run, reranker, name, texts, wanted, stop=wanted.stop)
    await _keep(run, scored.fresh)
    _tell(run, plan, scored)
    blend = reranker.blend if plan.profile.rerank_blend is None else plan.profile.rerank_blend
    ranked = order([f.passage.fused_score for f in best], scored.scores, blend)
    logit = getattr(reranker, "gives_logits", False)
    return [with_rerank(best[i], scored.scores[i], scored.texts, plan, logit) for i in ranked]


def _scored(run: Run, reranker: Reranker, name: str, texts: Sequence[Sequence[str]], wanted: Wanted) -> Scored:
    with calling(f"reranker {name!r}"):
        return score(reranker, run.request.question, texts, wanted, run.models.scores)


async def _fetch(run: Run, keys: Mapping[str, bytes]) -> None:
    """Bring the scores that other processes computed into memory."""
    missing = run.models.scores.missing(keys.values())
    if not missing or not run.database.settings.rerank_cache_table:
        return
    try:
        async with run.database.link() as link:
            if not link.joins:
                rows = (await link.read([(KNOWN_SCORES, {"keys": missing})]))[0]
                run.models.scores.keep((bytes(row["key"]), Known(tuple(row["scores"]), row["size"])) for row in rows)
            run.trips += link.trips
    except PgbraidError as error:
        run.notes.append(f"rerank scores of other processes could not be read: {error}")


async def _keep(run: Run, fresh: Mapping[bytes, Known]) -> None:
    """Keep the scores that are new for other processes. A transaction of the caller's is left alone."""
    if not fresh or not run.database.settings.rerank_cache_table:
        return
    scores = ["{" + ",".join(map(repr, known.scores)) + "}" for known in fresh.values()]
    sizes = [known.over for known in fresh.values()]
    try:
        async with run.database.link() as link:
            if not link.joins:
                await link.rows(KEEP_SCORES, keys=list(fresh), scores=scores, sizes=sizes)
            run.trips += link.trips
    except PgbraidError as error:
        run.notes.append(f"rerank scores could not be kept for other processes: {error}")


def _tell(run: Run, plan: Plan, scored: Scored) -> None:
    """What was scored, and what could not be."""
    run.counts["reranked"] = sum(one is not None for one in scored.scores)
    run.counts["rerank texts computed"] = scored.computed
    run.counts["rerank texts known"] = scored.cached
    part = f"reranker {plan.profile.rerank}"
    if scored.over:
        how = "read in windows" if plan.profile.rerank_overflow == "window" else "cut"
        run.counts["rerank texts over budget"] = len(scored.over)
        run.notes.append(
            f"{len(scored.over)} texts were too long for the reranker and were {how}, "
            f"the longest of {max(scored.over.values())} {scored.unit}"
        )
    if scored.refused:
        reason = next(iter(scored.refused.values()))
        run.failures.append(Failure(part, f"{len(scored.refused)} texts have no score: {reason}"))
    if scored.late:
        budget = plan.profile.rerank_budget_ms
        run.failures.append(Failure(part, f"{scored.late} texts were not reached in {budget} ms and keep their order"))
