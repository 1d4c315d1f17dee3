"""`manage.py pgbraid`."""
