-- Vectors of chunks, chosen by the hash of their key: the same ones as long as the collection stays as it is.
-- param tenant text
-- param number integer   how many at most
-- row   embedding
-- hole  chunk relation
-- hole  ext schema

SELECT chunk.embedding::/*ext*/ public.vector::text AS embedding
FROM /*chunk*/ pgbraid.chunk AS chunk
WHERE chunk.tenant = %(tenant)s::text
ORDER BY hashint8extended(chunk.document_id, chunk.ordinal), chunk.document_id, chunk.ordinal
LIMIT %(number)s::integer
