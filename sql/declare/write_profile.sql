-- Make a profile, or give it other settings.
-- param name     text
-- param settings jsonb
-- row   name

INSERT INTO pgbraid.profile (name, settings)
VALUES (%(name)s::text, %(settings)s::jsonb)
ON CONFLICT ON CONSTRAINT profile_pkey DO UPDATE SET settings = excluded.settings
RETURNING name
