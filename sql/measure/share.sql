-- How many chunks a tenant has, and how many of them pass a filter.
-- param tenant text
-- param filter jsonpath   null for none
-- row   chunks, passing
-- hole  chunk relation

SELECT
    count(*) AS chunks,
    count(*) FILTER (WHERE %(filter)s::jsonpath IS NULL OR chunk.metadata @@ %(filter)s::jsonpath) AS passing
FROM /*chunk*/ pgbraid.chunk AS chunk
WHERE chunk.tenant = %(tenant)s::text
