-- Make the partition that holds a collection's documents.
-- hole table relation
-- hole collection integer

CREATE TABLE /*table*/ pgbraid.document_1 PARTITION OF pgbraid.document
FOR VALUES IN (/*collection*/ 1)
