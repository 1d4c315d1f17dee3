"""The braids of a Django process: one for each database, made when first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgbraid.contrib.django.conf import conf
from pgbraid.contrib.options import NAME
from pgbraid.errors import SettingsError

if TYPE_CHECKING:
    from pgbraid._async.braid import AsyncBraid
    from pgbraid._sync.braid import Braid
    from pgbraid.models import Models
    from pgbraid.values import SearchResult


def braid(using: str | None = None) -> Braid:
    """The braid on Django's connection to the database `using`, else the one that PGBRAID names.

    It may be kept and shared by threads: each act runs on the connection of its thread, in the transaction that is open
    there. Raises SettingsError.
    """
    return _braid(using or conf().database)


def async_braid(using: str | None = None) -> AsyncBraid:
    """A braid for async code with a pool of its own to the same database: it sees what is committed.

    For work that must join Django's transaction use `search_async`, or `sync_to_async(braid().ingest)(…)`.
    """
    return _async_braid(using or conf().database)


async def search_async(question: str, *, using: str | None = None, **arguments: Any) -> SearchResult:
    """`braid().search` for async views: on Django's connection, in the thread where the async ORM works as well."""
    from asgiref.sync import sync_to_async

    return await sync_to_async(braid(using).search)(question, **arguments)


def forget() -> None:
    """Read the settings anew, which tests change; models are loaded again when needed."""
    for made in (conf, _models, _braid, _async_braid):
        made.cache_clear()


@cache
def _braid(alias: str) -> Braid:
    from pgbraid._sync.braid import Braid
    from pgbraid.contrib.django.connection import DjangoDatabase
    from pgbraid.settings import Settings

    settings = Settings.load(**conf().settings)
    return Braid(settings, _models(), DjangoDatabase(settings, alias))


@cache
def _async_braid(alias: str) -> AsyncBraid:
    from pgbraid._async.braid import AsyncBraid
    from pgbraid.contrib.django.connection import dsn_of
    from pgbraid.settings import Settings

    return AsyncBraid(Settings.load(dsn=dsn_of(alias), **conf().settings), _models())


@cache
def _models() -> Models:
    """The models of this process, shared by all its braids, with what the site registers."""
    from pgbraid.models import Models
    from pgbraid.settings import Settings

    said = conf()
    settings = Settings.load(**said.settings)
    models = Models(settings.threads, settings.rerank_cache)
    for name, path in said.embedders.items():
        models.register_embedder(name, imported("EMBEDDERS", name, path))
    for name, path in said.rerankers.items():
        models.register_reranker(name, imported("RERANKERS", name, path))
    return models


def imported(key: str, name: str, path: str) -> Any:
    """The object at a dotted path. Raises SettingsError that says where the path was written."""
    module, _, attribute = path.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{NAME}[{key!r}][{name!r}] is {path!r}, which cannot be imported: {error}") from error
