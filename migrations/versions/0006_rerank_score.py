"""rerank_score: the SQL is in the files beside this one."""

from pgbraid.migrations.plain import run

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")
