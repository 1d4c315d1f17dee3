-- Declare this transaction upkeep: the owner then sees every tenant's rows.
-- param upkeep text   on or off
-- row   previous

SELECT set_config('pgbraid.upkeep', %(upkeep)s::text, true) AS previous
