# Generated from src/pgbraid/_async/__init__.py by scripts/async_to_sync.py. Change that file, not this one.

"""The corridors for callers without an event loop, generated from `_async`."""
