-- Forget the mark.

RELEASE SAVEPOINT pgbraid
