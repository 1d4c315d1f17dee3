-- Without shared rerank scores.

DROP TABLE pgbraid.rerank_score;
