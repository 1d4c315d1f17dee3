-- Take the chunks of these documents, and the documents if they go too, out of the counts of the collection.
-- param collection_id bigint
-- param tenant        text
-- param document_ids  bigint[]
-- param documents     bigint     how many documents go for good
-- hole  chunk relation

INSERT INTO pgbraid.collection_change (collection_id, documents, chunks, length)
SELECT
    %(collection_id)s::bigint AS collection_id,
    -%(documents)s::bigint AS documents,
    -count(*) AS chunks,
    -coalesce(sum(old.length), 0) AS length
FROM /*chunk*/ pgbraid.chunk AS old
WHERE
    old.collection_id = %(collection_id)s::bigint
    AND old.tenant = %(tenant)s::text
    AND old.document_id = ANY(%(document_ids)s::bigint [])
