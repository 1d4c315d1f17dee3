DROP TABLE pgbraid.routing;
DROP TABLE pgbraid.route_alias;
DROP TABLE pgbraid.route_rule;
DROP TABLE pgbraid.route_collection;
DROP TABLE pgbraid.route;
DROP TABLE pgbraid.profile;
DROP TABLE pgbraid.collection;
DROP TABLE pgbraid.embedder;
