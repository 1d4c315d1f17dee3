-- Documents in the order asked for, by collection and id. Order and duplicates are kept, and an id that does not
-- exist comes back as a row without a document instead of not at all.
-- param collections  bigint[]
-- param document_ids bigint[]
-- row   place, collection_id, document_id, external_id, title, text, metadata, hash

WITH wanted AS MATERIALIZED (
    SELECT
        w.place,
        w.collection_id,
        w.document_id
    FROM unnest(%(collections)s::bigint [], %(document_ids)s::bigint [])
    WITH ORDINALITY AS w (collection_id, document_id, place)
),

parent AS (
    /*parents*/
    SELECT
        document.collection_id,
        document.id AS document_id,
        document.external_id,
        document.title,
        document.text,
        document.metadata,
        document.hash
    FROM pgbraid.document AS document
    INNER JOIN wanted ON document.collection_id = wanted.collection_id AND document.id = wanted.document_id
    /*end*/
)

SELECT
    wanted.place::integer AS place,
    wanted.collection_id,
    wanted.document_id,
    parent.external_id,
    parent.title,
    parent.text,
    parent.metadata,
    parent.hash
FROM wanted
LEFT JOIN parent ON wanted.collection_id = parent.collection_id AND wanted.document_id = parent.document_id
ORDER BY wanted.place
