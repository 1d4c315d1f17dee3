-- Change what can be changed in place; null leaves a setting as it is.
-- param name        text
-- param new_name    text
-- param description text
-- param ef_search   integer
-- param exact_below integer
-- row   id

UPDATE pgbraid.collection
SET
    name = coalesce(%(new_name)s::text, name),
    description = coalesce(%(description)s::text, description),
    ef_search = coalesce(%(ef_search)s::integer, ef_search),
    exact_below = coalesce(%(exact_below)s::integer, exact_below)
WHERE name = %(name)s::text
RETURNING id
