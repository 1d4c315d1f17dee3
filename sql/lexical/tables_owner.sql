-- Who owns a collection's chunk table, and whether this role may act as its owner: only the owner may empty the pending list of
-- an index or gather statistics, and sees every tenant's rows in upkeep.
-- param chunk_table text
-- row   owner, allowed

SELECT
    pg_get_userbyid(c.relowner) AS owner,
    pg_has_role(c.relowner, 'USAGE') AS allowed
FROM pg_catalog.pg_class AS c
WHERE c.oid = to_regclass('pgbraid.' || quote_ident(%(chunk_table)s::text))
