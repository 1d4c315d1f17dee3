-- The tenant that this transaction has named, or empty text.
-- row tenant

SELECT coalesce(current_setting('pgbraid.tenant', true), '') AS tenant
