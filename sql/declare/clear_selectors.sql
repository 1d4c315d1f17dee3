-- Take the chain of selectors apart.

DELETE FROM pgbraid.route_selector
