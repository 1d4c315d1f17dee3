"""pgbraid in a Django site: put `pgbraid.contrib.django` into INSTALLED_APPS.

    from pgbraid.contrib.django import braid

    braid().search("How long may I carry over leave?")

`braid` works on Django's own connection, inside its transaction. `search_async` is the same for async views, done as
Django's ORM does it; `async_braid` has connections of its own and sees what is committed.
"""

from __future__ import annotations

from pgbraid.contrib.django.doors import async_braid, braid, search_async

__all__ = ["async_braid", "braid", "search_async"]
