-- Take back what a search set in a caller's transaction; a search writes nothing.

ROLLBACK TO SAVEPOINT pgbraid
