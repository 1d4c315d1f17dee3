-- Forget what stands for the routes among vectors.

DELETE FROM pgbraid.route_prototype
