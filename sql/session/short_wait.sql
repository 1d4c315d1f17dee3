-- Rather fail than make everybody else wait behind this transaction for a lock.

SET LOCAL lock_timeout = '500ms'
