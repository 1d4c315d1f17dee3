-- End the transaction.

COMMIT
