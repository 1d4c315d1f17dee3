-- How many nodes an HNSW scan looks at, in this transaction. A literal, since Citus passes only those on to its workers.
-- hole breadth integer

SET LOCAL hnsw.ef_search = /*breadth*/ 100
