-- pgvector, when this database does not have it. IF NOT EXISTS would ask for rights even where there is nothing to do.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'vector') THEN
        CREATE EXTENSION vector SCHEMA public;
    END IF;
END
$$;
