-- Start a transaction that only reads.

BEGIN READ ONLY
