-- Whether this role passes every row policy, in a database that has collections with tenants.
-- row   object, detail, mend

SELECT
    r.rolname::text AS object,
    'passes every row policy' || CASE WHEN r.rolsuper THEN ', as a superuser' ELSE '' END
    || ': an application that connects as it has no protection from a forgotten tenant' AS detail,
    ARRAY['ALTER ROLE ' || quote_ident(r.rolname) || ' NOSUPERUSER NOBYPASSRLS'] AS mend
FROM pg_catalog.pg_roles AS r
WHERE
    r.rolname = current_user
    AND (r.rolsuper OR r.rolbypassrls)
    AND EXISTS (SELECT FROM pgbraid.collection AS k WHERE k.tenants)
