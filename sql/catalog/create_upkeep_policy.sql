-- The owner sees every tenant's rows in a transaction that declares itself upkeep; no other role can.
-- hole table relation

CREATE POLICY upkeep ON /*table*/ pgbraid.chunk_1 TO CURRENT_USER
USING (coalesce(current_setting('pgbraid.upkeep', true), '') = 'on')
WITH CHECK (coalesce(current_setting('pgbraid.upkeep', true), '') = 'on')
