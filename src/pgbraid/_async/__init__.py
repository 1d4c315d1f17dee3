"""The corridors:

everything that talks to the database, written once, async. `_sync` is generated from here by
scripts/async_to_sync.py.
"""
