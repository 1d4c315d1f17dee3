-- Let one declared file be applied at a time; whoever comes second waits here and then sees what the first one did.
-- row id

SELECT routing.id
FROM pgbraid.routing AS routing
FOR UPDATE
