-- One upgrade at a time in a database, until the end of its transaction; the number is the word "braid".
SELECT pg_catalog.pg_advisory_xact_lock(x'6272616964'::bigint);
