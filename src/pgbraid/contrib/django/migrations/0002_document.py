"""document: the SQL is that of the revision."""

from __future__ import annotations

from django.db import migrations

from pgbraid.contrib.django.operations import Revision


class Migration(migrations.Migration):
    """Revision 0002."""

    dependencies: list[tuple[str, str]] = [("pgbraid", "0001_catalog")]  # noqa: RUF012 - as Django has it
    operations = [Revision("0002")]  # noqa: RUF012
