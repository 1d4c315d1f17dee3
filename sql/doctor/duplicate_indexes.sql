-- Indexes on tables of pgbraid that are the same as an older one.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'is the same as ' || min(o.relname::text) || ' and is written as well at every change' AS detail,
    ARRAY['DROP INDEX CONCURRENTLY pgbraid.' || quote_ident(c.relname)] AS mend
FROM pg_catalog.pg_index AS i
INNER JOIN pg_catalog.pg_class AS c ON i.indexrelid = c.oid
INNER JOIN pg_catalog.pg_index AS other ON i.indrelid = other.indrelid AND i.indexrelid > other.indexrelid
INNER JOIN pg_catalog.pg_class AS o ON other.indexrelid = o.oid
WHERE
    c.relnamespace = to_regnamespace('pgbraid')
    AND c.relkind = 'i'
    AND c.relam = o.relam
    AND i.indkey::text = other.indkey::text
    AND i.indclass::text = other.indclass::text
    AND pg_get_expr(i.indexprs, i.indrelid) IS NOT DISTINCT FROM pg_get_expr(other.indexprs, other.indrelid)
    AND pg_get_expr(i.indpred, i.indrelid) IS NOT DISTINCT FROM pg_get_expr(other.indpred, other.indrelid)
    AND NOT i.indisunique
    AND other.indisvalid
GROUP BY c.relname
ORDER BY c.relname
