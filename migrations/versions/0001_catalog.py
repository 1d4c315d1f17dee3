"""catalog: the SQL is in the files beside this one."""

from pgbraid.migrations.plain import run

revision = "0001"
down_revision = None


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")
