-- Name the tenant of this transaction to the row policies.
-- param tenant text
-- row   previous

SELECT set_config('pgbraid.tenant', %(tenant)s::text, true) AS previous
