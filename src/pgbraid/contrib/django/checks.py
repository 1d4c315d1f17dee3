"""System checks: what `manage.py check` says of pgbraid. Those that ask the database run with `--database`.

A schema that is missing or behind is a warning: `migrate`, which mends it, runs these checks first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Warning

from pgbraid.contrib.django.conf import conf
from pgbraid.contrib.django.doors import _models, braid
from pgbraid.errors import ConnectionLost, EmbedderMismatch, PgbraidError, SchemaBehind, SchemaMissing


def check_settings(app_configs: object, **_: Any) -> list[CheckMessage]:
    """E001: the dictionary PGBRAID, or an object that it names, cannot be used."""
    try:
        conf()
        _models()
    except PgbraidError as error:
        return [Error(str(error), id="pgbraid.E001")]
    return []


def check_database(app_configs: object, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """W001: schema missing or behind; W002: no connection; W003: pgvector should be updated.

    E002: the database is not fit (pgvector missing or too old, schema ahead); E003: an embedder is another one than the
    catalogue says, or is to be registered and is not.
    """
    if check_settings(app_configs):
        return []  # E001 says it
    alias = conf().database
    return list(_database(alias)) if alias in (databases or ()) else []


def _database(alias: str) -> Iterator[CheckMessage]:
    from pgbraid import schema
    from pgbraid.contrib.django.connection import driver_connection

    try:
        for warning in schema.check(driver_connection(alias)).warnings:
            yield Warning(warning, id="pgbraid.W003")
        yield from _embedders(alias)
    except (SchemaMissing, SchemaBehind) as error:
        hint = "Run manage.py migrate pgbraid, or pgbraid schema upgrade if the schema is not Django's to change."
        yield Warning(str(error), hint=hint, id="pgbraid.W001")
    except ConnectionLost as error:
        yield Warning(str(error), id="pgbraid.W002")
    except PgbraidError as error:
        yield Error(str(error), id="pgbraid.E002")


def _embedders(alias: str) -> Iterator[CheckMessage]:
    """Only objects that the site registers are compared: to load a model takes long, and its first use compares it."""
    registered = conf().embedders
    for record in braid(alias).embedders():
        if record.name in registered:
            try:
                _models().embedder(record)
            except EmbedderMismatch as error:
                yield Error(str(error), id="pgbraid.E003")
        elif record.kind == "callable":
            text = (
                f"Embedder {record.name!r} is a function of the application, and PGBRAID['EMBEDDERS'] does not name it."
            )
            yield Error(text, hint=f"Add {record.name!r} with the dotted path of the object.", id="pgbraid.E003")
