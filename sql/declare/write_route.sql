-- Make a route, or change it; its collections and rules are written next.
-- param name        text
-- param description text
-- param priority    integer
-- param profile     text
-- param enabled     boolean
-- row   id

INSERT INTO pgbraid.route (name, description, priority, profile, enabled)
VALUES (
    %(name)s::text,
    %(description)s::text,
    %(priority)s::integer,
    %(profile)s::text,
    %(enabled)s::boolean
)
ON CONFLICT ON CONSTRAINT route_name_key DO UPDATE
SET
    description = excluded.description,
    priority = excluded.priority,
    profile = excluded.profile,
    enabled = excluded.enabled
RETURNING id
