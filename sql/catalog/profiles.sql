-- Every profile, by name.
-- row name, settings

SELECT
    p.name,
    p.settings
FROM pgbraid.profile AS p
ORDER BY p.name
