-- Write a collection into the catalogue; nothing comes back when the name is taken. Its tables are made next.
-- param name                  text
-- param description           text
-- param language              text
-- param text_config           text
-- param embedder              text
-- param chunk_tokens          integer
-- param chunk_overlap         integer
-- param index_storage         text
-- param index_m               integer
-- param index_ef_construction integer
-- param ef_search             integer
-- param exact_below           integer
-- param k1                    float8
-- param b                     float8
-- param tenants               boolean
-- row   id

INSERT INTO pgbraid.collection (
    name, description, language, text_config, embedder_id, chunk_tokens, chunk_overlap,
    index_storage, index_m, index_ef_construction, ef_search, exact_below, k1, b, tenants
)
SELECT
    %(name)s::text AS name,
    %(description)s::text AS description,
    %(language)s::text AS language,
    %(text_config)s::text AS text_config,
    e.id AS embedder_id,
    %(chunk_tokens)s::integer AS chunk_tokens,
    %(chunk_overlap)s::integer AS chunk_overlap,
    %(index_storage)s::text AS index_storage,
    %(index_m)s::integer AS index_m,
    %(index_ef_construction)s::integer AS index_ef_construction,
    %(ef_search)s::integer AS ef_search,
    %(exact_below)s::integer AS exact_below,
    %(k1)s::float8 AS k1,
    %(b)s::float8 AS b,
    %(tenants)s::boolean AS tenants
FROM pgbraid.embedder AS e
WHERE e.name = %(embedder)s::text
ON CONFLICT ON CONSTRAINT collection_name_key DO NOTHING
RETURNING id
