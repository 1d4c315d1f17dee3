-- Collections without the index of their words or of their metadata.
-- row   object, detail, mend

SELECT
    k.name AS object,
    'has no index of its ' || wanted.attribute || ': ' || wanted.loss AS detail,
    ARRAY[
        'CREATE INDEX CONCURRENTLY ' || quote_ident(k.chunk_table || wanted.ending) || ' ON pgbraid.' || quote_ident(k.chunk_table)
        || ' USING gin (' || wanted.attribute || wanted.opclass || ')'
    ] AS mend
FROM pgbraid.collection AS k
INNER JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass('pgbraid.' || quote_ident(k.chunk_table))
CROSS JOIN (
    VALUES
    ('words', '_words_gin', '', 'a search by words reads every chunk'),
    ('metadata', '_metadata_gin', ' jsonb_path_ops', 'a filter on equal values reads every chunk')
) AS wanted (attribute, ending, opclass, loss)
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_index AS i
    INNER JOIN pg_catalog.pg_class AS x ON i.indexrelid = x.oid
    INNER JOIN pg_catalog.pg_am AS a ON x.relam = a.oid
    INNER JOIN pg_catalog.pg_attribute AS t ON t.attrelid = c.oid AND t.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND a.amname = 'gin' AND t.attname = wanted.attribute
)
ORDER BY k.name, wanted.attribute
