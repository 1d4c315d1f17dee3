-- Sort what writers left in the pending list of a GIN index into it, so that no question has to read through that list.
-- param index text
-- row   pages

SELECT gin_clean_pending_list(to_regclass('pgbraid.' || quote_ident(%(index)s::text))) AS pages
