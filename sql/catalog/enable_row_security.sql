-- Policies bind on this table, for its owner too: a statement that names a partition is checked there and nowhere else.
-- hole table relation

ALTER TABLE /*table*/ pgbraid.chunk_1 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY
