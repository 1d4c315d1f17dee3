-- A collection without tenants has no rows of any; no row policy is needed then, and the indexes serve every role.
-- hole table relation

ALTER TABLE /*table*/ pgbraid.chunk_1 ADD CONSTRAINT no_tenants_check CHECK (tenant = '')
