-- Settings of the server that cost data or statistics, or that make plans as if disks still turned.
-- row   object, detail, mend

SELECT
    s.name::text AS object,
    'is ' || s.setting || ': ' || advised.reason AS detail,
    ARRAY['ALTER SYSTEM SET ' || s.name || ' = ' || advised.setting, 'SELECT pg_reload_conf()'] AS mend
FROM pg_catalog.pg_settings AS s
INNER JOIN (
    VALUES
    ('autovacuum', 'off', 'on', 'dead rows and stale statistics pile up'),
    ('track_counts', 'off', 'on', 'nobody knows which tables need vacuuming'),
    ('fsync', 'off', 'on', 'a crash of the machine can destroy the database'),
    ('full_page_writes', 'off', 'on', 'a crash of the machine can destroy pages'),
    ('random_page_cost', '4', '1.1', 'right for turning disks; on others it keeps the planner from indexes'),
    ('enable_indexscan', 'off', 'on', 'no vector index is used'),
    ('enable_bitmapscan', 'off', 'on', 'no index of words or metadata is used')
) AS advised (name, wrong, setting, reason) ON s.name = advised.name AND s.setting = advised.wrong
ORDER BY s.name
