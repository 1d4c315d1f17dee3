"""What can go wrong, as one tree.

Every message says what is wrong, with which value, and what to do next. Rooms raise; only doors (CLI, web
frameworks) translate. psycopg's errors become ours in one place, `pgbraid.db.failures`.

    PgbraidError
    ├─ SettingsError            a setting, option or declared file is wrong
    │  └─ UnknownOption         a key or option that does not exist
    ├─ MissingExtra             an optional dependency is not installed
    ├─ ServerError              the embedded PostgreSQL cannot be started or stopped
    ├─ SchemaError              the database is not ready for this version of pgbraid
    │  ├─ SchemaMissing
    │  ├─ SchemaBehind
    │  ├─ SchemaAhead
    │  └─ ExtensionUnavailable  pgvector is missing, too old, or may not be created by this role
    ├─ CatalogError             a name or a declaration does not fit what exists
    │  ├─ NoSuchCollection      (with the nearest names)
    │  ├─ NoSuchEmbedder
    │  ├─ NoSuchRoute
    │  ├─ NoSuchProfile
    │  ├─ AlreadyExists
    │  └─ EmbedderMismatch      another model, or another version of it, than the collection was made with
    ├─ FilterError              a metadata filter that cannot be understood
    ├─ IngestError              a document that cannot be stored; never loses the rest of its batch
    │  ├─ BadDocument
    │  └─ EmbeddingFailed
    ├─ ModelError               a model's files are not what they should be, or it gave unusable numbers
    │  └─ TextRefused
    ├─ SearchError              a question that cannot be answered as asked
    │  ├─ BadQuestion
    │  └─ NothingToSearch       the route's policy says that choosing no collection is an error
    └─ DatabaseError            PostgreSQL refused or went away
       ├─ ConnectionLost
       └─ StatementFailed       sqlstate, statement name, file:line:column
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that lists what exists and the closest name; empty text when nothing exists."""
    names = sorted(known)
    if not names:
        return "None exists yet."
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{hint}There are: {shown}."


class PgbraidError(Exception):
    """Base of every error that pgbraid raises on purpose."""

    exit_code = 1


class SettingsError(PgbraidError):
    """A setting, an option or a declared file is wrong."""

    exit_code = 2


class UnknownOption(SettingsError):
    """A key or option that does not exist."""


class MissingExtra(PgbraidError):
    """An optional dependency is not installed."""

    exit_code = 3

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part that is not installed: pip install 'pgbraid[{extra}]'")
        self.what = what
        self.extra = extra

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.what, self.extra)


class ServerError(PgbraidError):
    """The embedded PostgreSQL cannot be started or stopped."""

    exit_code = 4


class SchemaError(PgbraidError):
    """The database is not ready for this version of pgbraid."""

    exit_code = 5


class SchemaMissing(SchemaError):
    """The schema pgbraid does not exist in this database."""


class SchemaBehind(SchemaError):
    """The schema is older than this version of pgbraid."""


class SchemaAhead(SchemaError):
    """The schema is newer than this version of pgbraid."""


class ExtensionUnavailable(SchemaError):
    """pgvector is missing, too old, or this role may not create it."""


class CatalogError(PgbraidError):
    """A name or a declaration does not fit what exists."""

    exit_code = 6


class _Unknown(CatalogError):
    kind = "thing"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = tuple(known)
        super().__init__(f"There is no {self.kind} {name!r}. {nearest(name, known)}")
        self.name = name
        self.known = known

    def __reduce__(self) -> tuple[type, tuple[str, tuple[str, ...]]]:
        return type(self), (self.name, self.known)


class NoSuchCollection(_Unknown):
    """A collection that does not exist, or that this role may not read."""

    kind = "collection"


class NoSuchEmbedder(_Unknown):
    """An embedder that does not exist."""

    kind = "embedder"


class NoSuchRoute(_Unknown):
    """A route that does not exist."""

    kind = "route"


class NoSuchProfile(_Unknown):
    """A profile that does not exist."""

    kind = "profile"


class AlreadyExists(CatalogError):
    """A name that is taken."""


class EmbedderMismatch(CatalogError):
    """Another model, or another version of it, than the collection was made with."""


class FilterError(PgbraidError):
    """A metadata filter that cannot be understood."""

    exit_code = 7


class IngestError(PgbraidError):
    """A document that cannot be stored."""

    exit_code = 8


class BadDocument(IngestError):
    """A document whose text, identity or metadata cannot be stored."""


class EmbeddingFailed(IngestError):
    """The embedder failed, or gave a vector that cannot be stored."""


class ModelError(PgbraidError):
    """A model's files are not what they should be, or it gave unusable numbers."""

    exit_code = 9


class TextRefused(ModelError):
    """A model's server does not take the texts it was given: asked without one of them, it may take the rest."""


class SearchError(PgbraidError):
    """A question that cannot be answered as asked."""

    exit_code = 10


class BadQuestion(SearchError):
    """A question that is not text."""


class NothingToSearch(SearchError):
    """The policy says that choosing no collection is an error."""


class DatabaseError(PgbraidError):
    """PostgreSQL refused or went away."""

    exit_code = 11


class ConnectionLost(DatabaseError):
    """The connection to PostgreSQL cannot be made or was lost."""


class StatementFailed(DatabaseError):
    """PostgreSQL refused a statement.

    `sqlstate` is the server's five-character code, `statement` the name of the statement, `where` its
    file:line:column when the server told the position.
    """

    def __init__(self, message: str, sqlstate: str = "", statement: str = "", where: str = "") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.statement = statement
        self.where = where

    def __reduce__(self) -> tuple[type, tuple[str, str, str, str]]:
        return type(self), (str(self), self.sqlstate, self.statement, self.where)
