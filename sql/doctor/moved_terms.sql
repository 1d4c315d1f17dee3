-- Chunk tables that let the weights of words move out of the row: scoring reads them for every candidate.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'keeps the weights of words outside of its rows, and a search by words reads them for every candidate' AS detail,
    ARRAY['ALTER TABLE pgbraid.' || quote_ident(c.relname) || ' ALTER COLUMN terms SET STORAGE MAIN'] AS mend
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_attribute AS t ON c.oid = t.attrelid
WHERE c.relnamespace = to_regnamespace('pgbraid') AND c.relname ~ '^chunk(_\d+)?$' AND t.attname = 'terms' AND t.attstorage <> 'm'
ORDER BY c.relname
