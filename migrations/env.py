"""Alembic's entry. It only ever writes SQL: `pgbraid.schema` runs that SQL on the caller's own connection.

So what a DBA reads in `pgbraid schema sql` is what `pgbraid schema upgrade` runs, a caller's transaction can be
joined, and SQLAlchemy never touches a connection that belongs to somebody else.
"""

from __future__ import annotations

from alembic import context

from pgbraid.errors import SchemaError

if not context.is_offline_mode():
    raise SchemaError("These migrations are run by: pgbraid schema upgrade (or read: pgbraid schema sql)")

context.configure(
    dialect_name="postgresql",
    output_buffer=context.config.output_buffer,
    version_table="alembic_version",
    version_table_schema="pgbraid",
    transactional_ddl=False,  # the transaction is pgbraid.schema's
)
with context.begin_transaction():
    context.run_migrations()
