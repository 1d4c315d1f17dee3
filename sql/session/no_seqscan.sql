-- Keep the planner from reading whole tables for words, in this transaction: it does not know that reading chunk.words of every row
-- means fetching each from TOAST, and so takes a scan over the GIN index's few thousand rows for the dearer way.

SET LOCAL enable_seqscan = off
