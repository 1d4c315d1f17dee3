DROP TABLE pgbraid.checkpoint;
