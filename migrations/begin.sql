-- The schema, before the first revision. A DBA may have made it for this role, who then needs no right to make one.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'pgbraid') THEN
        CREATE SCHEMA pgbraid;
    END IF;
END
$$;
