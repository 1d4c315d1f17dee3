-- Indexes on documents and chunks that pgbraid did not make, that hold nothing together, and that no query has used.
-- row   object, detail, mend

SELECT
    s.indexrelname::text AS object,
    'is not one of pgbraid''s, and no query has used it since statistics are kept; it takes '
    || pg_size_pretty(pg_relation_size(s.indexrelid)) AS detail,
    ARRAY['DROP INDEX CONCURRENTLY pgbraid.' || quote_ident(s.indexrelname)] AS mend
FROM pg_catalog.pg_stat_user_indexes AS s
INNER JOIN pg_catalog.pg_index AS i ON s.indexrelid = i.indexrelid
WHERE
    s.schemaname = 'pgbraid'
    AND s.relname ~ '^(document|chunk)_\d+$'
    AND s.idx_scan = 0
    AND NOT i.indisunique
    AND s.indexrelname !~ '_(embedding_hnsw|words_gin|metadata_gin)(_cc(new|old)\d*)?$'
ORDER BY s.indexrelname
