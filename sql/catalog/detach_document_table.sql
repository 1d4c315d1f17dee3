-- Take a collection's documents out of the whole; chunks refer to documents through the whole, so this comes before dropping.
-- hole table relation

ALTER TABLE pgbraid.document DETACH PARTITION /*table*/ pgbraid.document_1
