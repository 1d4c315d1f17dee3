-- A role sees and writes the rows of the tenant that its transaction named, and those without one when it named none.
-- hole table relation

CREATE POLICY tenant ON /*table*/ pgbraid.chunk_1
USING (tenant = coalesce(current_setting('pgbraid.tenant', true), ''))
WITH CHECK (tenant = coalesce(current_setting('pgbraid.tenant', true), ''))
