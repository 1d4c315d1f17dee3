-- Pages of a vector index, and rows of its table as they were last counted.
-- param table text
-- param index text
-- row   pages, rows

SELECT
    pg_relation_size(to_regclass('pgbraid.' || quote_ident(%(index)s::text))) / current_setting('block_size')::bigint AS pages,
    greatest(c.reltuples, 0)::bigint AS rows
FROM pg_catalog.pg_class AS c
WHERE c.oid = to_regclass('pgbraid.' || quote_ident(%(table)s::text))
