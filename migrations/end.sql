-- After the last revision is undone: the schema goes too, unless somebody else made it for this role.
DROP TABLE IF EXISTS pgbraid.alembic_version;
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace
        WHERE nspname = 'pgbraid' AND pg_catalog.pg_has_role(nspowner, 'USAGE')
    ) THEN
        DROP SCHEMA pgbraid;
    END IF;
END
$$;
