-- Back to routing without a classifier; a chain that asks one goes on without it.

DELETE FROM pgbraid.route_selector WHERE kind = 'classifier';
ALTER TABLE pgbraid.route_selector DROP CONSTRAINT route_selector_kind_check;
ALTER TABLE pgbraid.route_selector
ADD CONSTRAINT route_selector_kind_check CHECK (kind IN ('rules', 'semantic'));
DROP TABLE pgbraid.classifier_activation;
DROP TABLE pgbraid.classifier_weight;
DROP TABLE pgbraid.classifier;
