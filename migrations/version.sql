-- Which revision this database is at; no row before the first.
SELECT version_num FROM pgbraid.alembic_version
