-- Tables whose foreign keys are not enforced, since their triggers are switched off.
-- row   object, detail, mend

SELECT
    c.relname::text AS object,
    'has triggers switched off, so its foreign keys hold nothing together' AS detail,
    ARRAY['ALTER TABLE pgbraid.' || quote_ident(c.relname) || ' ENABLE TRIGGER ALL'] AS mend
FROM pg_catalog.pg_class AS c
WHERE
    c.relnamespace = to_regnamespace('pgbraid')
    AND EXISTS (SELECT FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = c.oid AND t.tgenabled = 'D')
ORDER BY c.relname
