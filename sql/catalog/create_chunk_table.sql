-- Make the partition that holds a collection's chunks; it refuses vectors of another length.
-- hole table relation
-- hole collection integer
-- hole ext schema
-- hole dim integer

CREATE TABLE /*table*/ pgbraid.chunk_1 PARTITION OF pgbraid.chunk (
    CONSTRAINT chunk_dimensions_check CHECK (/*ext*/ public.vector_dims(embedding) = /*dim*/ 384)
)
FOR VALUES IN (/*collection*/ 1)
