-- Mark where a caller's transaction stands, so that nothing of ours stays in it.

SAVEPOINT pgbraid
