"""What `doctor` looks for: each check with its weight and what to do about a finding. Nothing is asked here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "advice"]
ORDER: tuple[Severity, ...] = ("error", "warning", "advice")


@dataclass(frozen=True, slots=True)
class Check:
    """A statement of `sql/doctor/` by its name; `do` says in words what its SQL does, or what to run where it has none.

    A check that is `inside` looks at the rows of one collection, the others at the whole database.
    """

    name: str
    severity: Severity
    do: str
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be: which check found it, how much it matters, at what, what it is and what to
    do; `sql` are the statements that mend it, to be run one after the other outside of a transaction."""

    check: str
    severity: Severity
    object: str
    detail: str
    do: str
    sql: tuple[str, ...] = ()


CHECKS = (
    Check("missing_tables", "error", "Forget the collection, then declare it anew and load it."),
    Check("row_security_off", "error", "Switch row security on, for the owner too."),
    Check("missing_tenant_policies", "error", "Make the policy."),
    Check("wide_policies", "error", "Drop the policy, unless it is meant."),
    Check("disabled_triggers", "error", "Switch them on, as a superuser; then look for chunks without documents."),
    Check("invalid_indexes", "error", "Build the index anew, or drop what a rebuild left behind."),
    Check("missing_vector_indexes", "error", "Build the index, or run: pgbraid maintain"),
    Check("missing_gin_indexes", "error", "Build the index."),
    Check("orphans", "error", "Remove these chunks.", inside=True),
    Check("missing_chunks", "error", "Mark the documents, then load them again.", inside=True),
    Check("unusable_vectors", "error", "Remove these chunks, then load their documents again.", inside=True),
    Check("missing_dimension_checks", "warning", "Add the constraint; chunks that do not fit must go first."),
    Check("wrong_vector_indexes", "warning", "Drop the index."),
    Check("other_index_settings", "warning", "Build the index with what is declared."),
    Check("passing_role", "warning", "Let applications connect as another role; or take the rights from this one."),
    Check("server_settings", "warning", "Change the setting, as a superuser, and reload."),
    Check("stale_statistics", "warning", "Gather statistics, or run: pgbraid maintain"),
    Check("dead_rows", "warning", "Vacuum the table, or run: pgbraid maintain"),
    Check("old_weights", "warning", "Run: pgbraid lexical refresh, with its name"),
    Check("idle_routes", "warning", "Switch the route off, or declare its collections."),
    Check("moved_terms", "warning", "Keep them in the row; chunks that are written from now on are stored so."),
    Check("leftover_tables", "advice", "Drop the table when nobody needs it."),
    Check("duplicate_indexes", "advice", "Drop the newer one."),
    Check("unused_indexes", "advice", "Drop it when nobody needs it."),
    Check("old_extension", "advice", "Update the extension, as its owner."),
    Check("little_memory", "advice", "Raise the setting before building, for this session or for the server."),
    Check("old_checkpoints", "advice", "Forget the load, or run: pgbraid maintain"),
    Check("unused_embedders", "advice", "Forget the embedder, or run: pgbraid embedder drop"),
)


def sorted_findings(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The gravest first; within a weight in the order of the checks."""
    return tuple(sorted(found, key=lambda one: ORDER.index(one.severity)))
