"""Doors for other houses: pgbraid at home in a web framework, on that framework's own connection."""
