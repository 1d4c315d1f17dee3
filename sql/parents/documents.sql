-- Read documents of one collection by their ids.
-- param tenant       text
-- param collection   bigint
-- param document_ids bigint[]
-- param with_text    boolean    false leaves the text out: the reranker reads chunks only
-- row   collection_id, document_id, external_id, title, text, metadata, hash
-- hole  document relation

SELECT
    wanted.collection_id,
    document.id AS document_id,
    document.external_id,
    document.title,
    CASE WHEN %(with_text)s::boolean THEN document.text END AS text,
    document.metadata,
    document.hash
FROM (
    /*wanted*/
    SELECT DISTINCT
        %(collection)s::bigint AS collection_id,
        w.document_id
    FROM unnest(%(document_ids)s::bigint []) AS w (document_id)
    /*end*/
) AS wanted
INNER JOIN /*document*/ pgbraid.document AS document
    ON wanted.document_id = document.id
WHERE
    wanted.collection_id = %(collection)s::bigint
    AND document.collection_id = %(collection)s::bigint
    AND document.tenant = %(tenant)s::text
