-- Let an HNSW scan go on until enough rows pass the filter, in this transaction.

SET LOCAL hnsw.iterative_scan = strict_order
