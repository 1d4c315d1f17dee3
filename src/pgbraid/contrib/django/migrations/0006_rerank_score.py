"""rerank_score: the SQL is that of the revision."""

from __future__ import annotations

from django.db import migrations

from pgbraid.contrib.django.operations import Revision


class Migration(migrations.Migration):
    """Revision 0006."""

    dependencies: list[tuple[str, str]] = [("pgbraid", "0005_classifier")]  # noqa: RUF012 - as Django has it
    operations = [Revision("0006")]  # noqa: RUF012
