"""What is not as it should be in a database, and what to do about it. Nothing is changed here.

Each check is a statement of `sql/doctor/` that gives a row for each finding, with the SQL that mends it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgbraid._async import catalog
from pgbraid._async.link import SET_UPKEEP, Database, Link, Row
from pgbraid.compute import in_executor
from pgbraid.db.statements import Statement, statement
from pgbraid.errors import EmbedderMismatch, PgbraidError, StatementFailed
from pgbraid.findings import CHECKS, Check, Finding, sorted_findings
from pgbraid.models import Models
from pgbraid.values import Collection, EmbedderRecord

STATEMENTS: Mapping[str, Statement] = {name: statement(f"doctor/{name}") for name in (check.name for check in CHECKS)}


async def doctor(
    database: Database, models: Models, name: str | None = None, load_models: bool = False
) -> tuple[Finding, ...]:
    """Look at the database, and at the rows of one collection or of all; `load_models` also loads each embedder and
    compares it with the catalogue. Raises NoSuchCollection.
    """
    found: list[Finding] = []
    async with database.link() as link:
        known = await catalog.collections(link)
        chosen = [await catalog.collection(link, name)] if name is not None else list(known)
        for check in CHECKS:
            found += await _inside(link, check, chosen) if check.inside else await _findings(link, check)
    if load_models:
        for record in {c.embedder.name: c.embedder for c in chosen}.values():
            found += await in_executor(_embedder, models, record)
    return sorted_findings(found)


async def _inside(link: Link, check: Check, chosen: list[Collection]) -> list[Finding]:
    found: list[Finding] = []
    for collection in chosen:
        values = {
            "document": collection.document_table,
            "chunk": collection.chunk_table,
            "ext": link.facts.vector_schema,
        }
        asked = STATEMENTS[check.name]
        filled = asked.fill(**{hole: values[hole] for hole, _ in asked.holes})
        found += await _findings(link, check, filled)
    return found


async def _findings(link: Link, check: Check, filled: Statement | None = None) -> list[Finding]:
    """What one check finds; one that this role may not make is a finding of its own."""
    try:
        asked = filled or STATEMENTS[check.name]
        rows = (await link.read([(SET_UPKEEP, {"upkeep": "on"}), (asked, {})]))[1]
    except StatementFailed as error:
        return [Finding("not_checked", "warning", check.name, str(error), "Look as the owner of the tables.")]
    return [_finding(check, row) for row in rows]


def _finding(check: Check, row: Row) -> Finding:
    return Finding(check.name, check.severity, row["object"], row["detail"], check.do, tuple(row["mend"]))


def _embedder(models: Models, record: EmbedderRecord) -> list[Finding]:
    """Whether the model of an embedder is the one that the vectors were made with, and can be had at all."""
    try:
        models.embedder(record)
    except EmbedderMismatch as error:
        return [Finding("other_embedders", "error", record.name, str(error), "Restore the model, or embed again.")]
    except PgbraidError as error:
        return [Finding("other_embedders", "warning", record.name, str(error), "Make the model available here.")]
    return []
