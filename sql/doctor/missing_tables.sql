-- Collections whose tables are not there.
-- row   object, detail, mend

SELECT
    k.name AS object,
    'has lost its table ' || wanted.relation || ': no search can ask it' AS detail,
    ARRAY['DELETE FROM pgbraid.collection WHERE id = ' || k.id] AS mend
FROM pgbraid.collection AS k
CROSS JOIN LATERAL (VALUES (k.document_table), (k.chunk_table)) AS wanted (relation)
WHERE to_regclass('pgbraid.' || quote_ident(wanted.relation)) IS NULL
ORDER BY k.name, wanted.relation
