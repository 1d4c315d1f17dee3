-- Give a route its example questions, in order.
-- param route_id bigint
-- param texts    text[]

INSERT INTO pgbraid.route_example (route_id, place, text)
SELECT
    %(route_id)s::bigint AS route_id,
    example.place,
    example.text
FROM unnest(%(texts)s::text []) WITH ORDINALITY AS example (text, place)
