-- Add a selector to the chain.
-- param place    integer
-- param kind     text
-- param settings jsonb
-- param embedder text    null for none

INSERT INTO pgbraid.route_selector (place, kind, settings, embedder_id)
SELECT
    %(place)s::integer AS place,
    %(kind)s::text AS kind,
    %(settings)s::jsonb AS settings,
    (SELECT e.id FROM pgbraid.embedder AS e WHERE e.name = %(embedder)s::text) AS embedder_id
