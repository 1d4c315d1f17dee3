-- Tell the catalogue which tables hold a collection from now on.
-- param collection_id  bigint
-- param document_table text
-- param chunk_table    text

UPDATE pgbraid.collection
SET
    document_table = %(document_table)s::text,
    chunk_table = %(chunk_table)s::text
WHERE id = %(collection_id)s::bigint
