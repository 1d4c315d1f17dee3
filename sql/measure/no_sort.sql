-- Let rows come from the vector index in its own order, in this transaction, also where sorting all would be taken for cheaper.

SET LOCAL enable_sort = off
