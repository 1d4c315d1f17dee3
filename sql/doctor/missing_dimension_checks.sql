-- Chunk tables that would take vectors of another length than their embedder's.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'takes vectors of any length; those of collection ' || k.name || ' have ' || e.dimensions || ' dimensions' AS detail,
    ARRAY[
        'ALTER TABLE pgbraid.' || quote_ident(c.relname) || ' ADD CONSTRAINT chunk_dimensions_check CHECK ('
        || x.schema || '.vector_dims(embedding) = ' || e.dimensions || ')'
    ] AS mend
FROM pgbraid.collection AS k
INNER JOIN pgbraid.embedder AS e ON k.embedder_id = e.id
INNER JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass('pgbraid.' || quote_ident(k.chunk_table))
CROSS JOIN (
    SELECT quote_ident(n.nspname) AS schema
    FROM pg_catalog.pg_extension AS v INNER JOIN pg_catalog.pg_namespace AS n ON v.extnamespace = n.oid
    WHERE v.extname = 'vector'
) AS x
WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_constraint AS o
    WHERE o.conrelid = c.oid AND o.contype = 'c' AND pg_get_constraintdef(o.oid) ~ ('vector_dims\(embedding\) = ' || e.dimensions || '\M')
)
ORDER BY c.relname
