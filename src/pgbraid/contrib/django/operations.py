"""How Django runs a revision: the same SQL files that `pgbraid schema upgrade` runs, with the same bookkeeping.

So the two may follow each other: what one has made the other finds, and does not make again.
"""

from __future__ import annotations

from typing import Any

from django.db import router
from django.db.migrations.operations.base import Operation

from pgbraid import schema
from pgbraid.contrib.django.conf import conf
from pgbraid.contrib.django.connection import driver_connection
from pgbraid.revisions import BASE, revisions, steps


class Revision(Operation):
    """Bring the tables to a revision; backwards, to the one before it."""

    reversible = True
    reduces_to_sql = True

    def __init__(self, revision: str) -> None:
        self.revision = revision

    @property
    def before(self) -> str:
        """The revision that this one follows."""
        return (BASE, *revisions())[_order(self.revision) - 1]

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Models are unmanaged: Django's state does not change."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Upgrade, unless the tables are there already."""
        if not _here(app_label, schema_editor):
            return
        target = driver_connection(schema_editor.connection.alias)
        at, where = schema.place(target)
        if schema_editor.collect_sql:
            schema_editor.collected_sql.append(steps(self.before, self.revision, where))
        elif _order(at) < _order(self.revision):
            schema.upgrade(target, self.revision)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Downgrade, unless the tables are gone already."""
        if not _here(app_label, schema_editor):
            return
        target = driver_connection(schema_editor.connection.alias)
        at, where = schema.place(target)
        if schema_editor.collect_sql:
            schema_editor.collected_sql.append(steps(self.revision, self.before, where))
        elif _order(at) >= _order(self.revision):
            schema.downgrade(target, self.before)

    def describe(self) -> str:
        """One line for `migrate --plan`."""
        return f"pgbraid's tables, revision {self.revision}"


def _here(app_label: str, schema_editor: Any) -> bool:
    """Whether this is the database that pgbraid lives in, and the site's routers allow it."""
    alias = schema_editor.connection.alias
    return bool(alias == conf().database and router.allow_migrate(alias, app_label))


def _order(revision: str) -> int:
    return (BASE, *revisions()).index(revision)
