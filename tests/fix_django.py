"""Django, set up once a process as a site sets it up, and pointed at the database of a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgbraid.embed import from_callable

NOWHERE = {"ENGINE": "django.db.backends.postgresql", "NAME": "nowhere", "HOST": "/nonexistent"}
words = from_callable(lambda texts: [[1.0, 0.0]] * len(texts), 2, "words")  # an embedder of the application's


@pytest.fixture(scope="session")
def django_ready() -> None:
    """Settings and apps, without a database that can be reached."""
    import django
    from django.conf import settings

    if settings.configured:
        return
    settings.configure(
        DATABASES={"default": dict(NOWHERE), "other": dict(NOWHERE)},
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "pgbraid.contrib.django"],
        USE_TZ=True,
        SECRET_KEY="only for tests",
        ROOT_URLCONF="fix_django_urls",
        MIDDLEWARE=[],
        ALLOWED_HOSTS=["testserver"],
    )
    django.setup()


def point(alias: str, dsn: str | None) -> None:
    """Make an alias of DATABASES mean this database, in the calling thread; None means nowhere again."""
    from django.db import connections

    parts = conninfo_to_dict(dsn) if dsn else {}
    wrapper: Any = connections[alias]
    wrapper.close()
    wrapper.settings_dict.update(
        NAME=parts.get("dbname", "nowhere"), USER=parts.get("user") or "", PASSWORD=parts.get("password") or "",
        HOST=parts.get("host") or "/nonexistent", PORT=str(parts.get("port") or ""), CONN_MAX_AGE=None,
    )  # fmt: skip


@pytest.fixture
def site(django_ready: None, own: str) -> Iterator[str]:
    """Django's default database is a migrated one with the embedder `h`, for this test alone; gives its DSN."""
    from pgbraid.contrib.django.doors import forget

    forget()
    point("default", own)
    yield own
    point("default", None)
    forget()


@pytest.fixture
def bare_site(django_ready: None, empty_database: str) -> Iterator[str]:
    """Django's default database is one that neither Django nor pgbraid has seen; gives its DSN."""
    from pgbraid.contrib.django.doors import forget

    forget()
    point("default", empty_database)
    yield empty_database
    point("default", None)
    forget()
