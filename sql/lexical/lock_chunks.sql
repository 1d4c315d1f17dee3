-- Wait for writers of a collection's chunks, in the order in which they write, and keep them from changing any until this
-- transaction ends. What is read of the chunks in the next statement then stays true.
-- param collection_id bigint
-- row   locked
-- hole  chunk relation

SELECT count(*) AS locked
FROM (
    SELECT chunk.ordinal
    FROM /*chunk*/ pgbraid.chunk AS chunk
    WHERE chunk.collection_id = %(collection_id)s::bigint
    ORDER BY chunk.tenant, chunk.document_id, chunk.ordinal
    FOR NO KEY UPDATE
) AS held
