-- Back to routing by rules alone.

DROP TABLE pgbraid.route_prototype;
DROP TABLE pgbraid.route_vector;
DROP TABLE pgbraid.route_example;
DROP TABLE pgbraid.route_selector;
