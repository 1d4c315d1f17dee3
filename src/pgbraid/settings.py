"""What the operator decides when pgbraid is deployed: where the database is, how many connections, how many threads.

One frozen `Settings` is merged from `pgbraid.toml` in the working directory, the environment (`PGBRAID_*`, and
`DATABASE_URL` for the database), and arguments; the later wins. Only doors call `Settings.load`; the rooms behind them
are handed what they need and never read the environment. How a collection is made and how a question is answered
are not settings: the first is a row of the catalogue, the second a profile.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pgbraid.errors import SettingsError, UnknownOption, nearest

FILE = "pgbraid.toml"
PREFIX = "PGBRAID_"
FOR_TESTS = frozenset({"PGBRAID_TEST_DATA", "PGBRAID_TEST_DSN"})  # read by the test suite only
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][\w.-]*)(?:\+\w+)?://")


class Settings(BaseModel):
    """How this process reaches PostgreSQL and how much of the machine it takes.

    `dsn` is None when the embedded server in `server_dir` is meant. `prepare_threshold` is psycopg's: how often a
    statement is seen before it is prepared; None never prepares, which is right behind a pooler in transaction mode.
    `threads` is how many torch takes, in the whole process, once a transformer or a cross-encoder was loaded; None
    leaves torch as it is. Other models are not touched by it. `rerank_cache` is of how many pairs of question and text
    the rerank scores are kept in memory; 0 keeps none. `rerank_cache_table` keeps them in the database as well, for
    other processes. `connect_timeout` is in seconds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dsn: str | None = None
    server_dir: Path = Path(".pgbraid")
    pool_min: int = Field(default=0, ge=0)
    pool_max: int = Field(default=4, ge=1)
    prepare_threshold: int | None = Field(default=None, ge=0)
    threads: int | None = Field(default=None, ge=1)
    rerank_cache: int = Field(default=100_000, ge=0)
    rerank_cache_table: bool = False
    connect_timeout: int = Field(default=10, ge=1)

    @classmethod
    def load(cls, **arguments: Any) -> Self:
        """Merge the file, the environment and `arguments`; an argument that is None counts as not given.

        Raises UnknownOption for a name that is no setting and SettingsError for a value that cannot be used.
        """
        merged: dict[str, Any] = {}
        source: dict[str, str] = {}
        for name, value, origin in (
            *_from_file(Path(FILE)),
            *_from_environment(os.environ),
            *_from_arguments(arguments),
        ):
            if value is not None and value != "":
                merged[name], source[name] = value, origin
        try:
            return cls.model_validate(merged)
        except ValidationError as error:
            raise SettingsError(_explained(error, merged, source)) from None

    @field_validator("dsn")
    @classmethod
    def _understood_dsn(cls, value: str | None) -> str | None:
        return None if value is None else libpq_dsn(value)

    @field_validator("prepare_threshold", mode="before")
    @classmethod
    def _never_in_words(cls, value: object) -> object:
        return None if isinstance(value, str) and value.lower() in {"none", "never"} else value

    @model_validator(mode="after")
    def _pool_fits(self) -> Self:
        if self.pool_min > self.pool_max:
            raise ValueError(f"pool_min is {self.pool_min}, more than pool_max, which is {self.pool_max}")
        if self.rerank_cache_table and not self.rerank_cache:
            raise ValueError("rerank_cache_table fills the scores kept in memory: set rerank_cache above 0")
        return self

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, safe_dsn(value) if name == "dsn" and value is not None else value


def libpq_dsn(dsn: str) -> str:
    """The DSN as libpq reads it: `postgres://` and `postgresql+driver://` become `postgresql://`.

    Raises ValueError, without the text itself, since it may hold a password.
    """
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    found = _SCHEME.match(dsn)
    if found and found["scheme"].lower() not in {"postgres", "postgresql"}:
        raise ValueError(f"it is the address of {found['scheme']}, not of PostgreSQL: expected postgresql://…")
    plain = f"postgresql://{dsn[found.end() :]}" if found else dsn
    try:
        parts = conninfo_to_dict(plain)
    except Error:
        parts = {"port": "unreadable"}
    astray = found and plain.partition("?")[0].count("@") > 1  # libpq would take a piece of the password for the host
    if astray or not re.fullmatch(r"[\d,]*", str(parts.get("port", ""))):
        raise ValueError(
            "libpq cannot read it: expected postgresql://user:password@host:port/database or host=… dbname=…, "
            "with @ / : ? # and % in a password written as %40 %2F %3A %3F %23 %25"
        )
    return plain


def safe_dsn(dsn: str) -> str:
    """The DSN for messages: `host=… dbname=…` with every password replaced by `***`."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        parts = conninfo_to_dict(libpq_dsn(dsn))
    except ValueError:
        return "(a connection string that cannot be read)"
    return make_conninfo("", **{name: "***" if "password" in name else value for name, value in parts.items()})


def _from_file(path: Path) -> Iterator[tuple[str, Any, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    for name, value in content.items():
        _known(name, f"in {path}")
        yield name, value, f"{name} in {path}"


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    if "DATABASE_URL" in environment and not environment.get("PGBRAID_DSN"):
        yield "dsn", environment["DATABASE_URL"], "DATABASE_URL (PGBRAID_DSN would be taken first)"
    known = {PREFIX + name.upper(): name for name in Settings.model_fields}
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or variable in FOR_TESTS:
            continue
        if variable not in known:
            raise UnknownOption(f"There is no setting {variable} (environment). {nearest(variable, known)}")
        yield known[variable], environment[variable], variable


def _from_arguments(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for name, value in arguments.items():
        _known(name, "given as an argument")
        yield name, value, f"the argument {name}"


def _known(name: str, where: str) -> None:
    if name not in Settings.model_fields:
        raise UnknownOption(f"There is no setting {name!r} ({where}). {nearest(name, Settings.model_fields)}")


def _explained(error: ValidationError, merged: Mapping[str, Any], source: Mapping[str, str]) -> str:
    """One line a wrong value, with where it came from; the value of a DSN is never shown."""
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        name = str(problem["loc"][0]) if problem["loc"] else ""
        reason = problem["msg"].removeprefix("Value error, ")
        shown = "" if name in {"", "dsn"} else f" is {merged[name]!r}"
        lines.append(f"{source.get(name, 'The settings')}{shown}: {reason}.")
    return "\n".join(lines)
