"""The server's directory: what is in it, whether it is ours, and who may change it at the moment.

    <directory>/data          PostgreSQL's own
    <directory>/data.partial  while it is being made; renamed when whole, thrown away when found again
    <directory>/server.log    what the server said
    <directory>/lock          held while a server is started or stopped

The socket is elsewhere, since the path of a socket may have no more than about 100 bytes: in a directory of its own
under the system's directory for temporary files, closed to every other user. That is the server's authentication.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pgbraid.errors import ServerError
from pgbraid.server.account import Account

OURS = frozenset({"data", "data.partial", "server.log", "lock"})
LOCK_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Place:
    """A directory for one server, as an absolute path without links."""

    directory: Path

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def partial(self) -> Path:
        return self.directory / "data.partial"

    @property
    def log(self) -> Path:
        return self.directory / "server.log"

    @property
    def made(self) -> bool:
        """Whether the data are there and whole."""
        try:
            return (self.data / "PG_VERSION").exists()
        except PermissionError as error:
            raise ServerError(f"{self.data} belongs to another user: {error}.") from error

    def last_words(self, count: int = 15) -> str:
        """The last lines of the server's log."""
        try:
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])
        except OSError as error:
            return f"(its log cannot be read: {error})"


def at(directory: Path | str) -> Place:
    """The place at a directory, which need not exist."""
    return Place(Path(directory).expanduser().resolve())


def prepare(place: Place) -> None:
    """Make the directory, or make sure that it holds nothing but a server of ours. Raises ServerError."""
    try:
        place.directory.mkdir(parents=True, exist_ok=True)
        strangers = sorted(entry.name for entry in place.directory.iterdir() if entry.name not in OURS)
        if not strangers and place.data.exists() and not place.made:
            strangers = ["data, which is no PostgreSQL data directory"]
    except OSError as error:
        raise ServerError(f"{place.directory} cannot be used for the server: {error}.") from error
    if strangers:
        raise ServerError(
            f"{place.directory} holds something else ({', '.join(strangers[:5])}). "
            "Choose a directory that does not exist or is empty (PGBRAID_SERVER_DIR)."
        )


@contextlib.contextmanager
def locked(place: Place) -> Iterator[None]:
    """Hold the directory against every other process and thread that starts or stops its server."""
    import fcntl

    try:
        descriptor = os.open(place.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ServerError(f"{place.directory} cannot be used for the server: {error}.") from error
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ServerError(
                        f"Another process has been starting or stopping the server in {place.directory} "
                        f"for {LOCK_SECONDS:.0f} seconds. Look for it, end it, and try again."
                    ) from None
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def socket_path(place: Place, account: Account) -> Path:
    """The directory of the socket: always the same for the same data.

    The inode is part of the name: when data were deleted under a running server, that server removes its socket
    when it notices, and must not find the socket of its successor there.
    """
    inode = place.data.stat().st_ino
    digest = hashlib.sha256(os.fsencode(f"{place.data}\0{inode}")).hexdigest()[:12]
    return _short_temporary() / f"pgbraid-{account.uid}-{digest}"


def socket_directory(place: Place, account: Account) -> Path:
    """Make the directory of the socket, empty and closed to others. Raises ServerError when it is somebody else's."""
    path = socket_path(place, account)
    if path.is_symlink() or (path.exists() and path.stat().st_uid not in {account.uid, os.geteuid()}):
        raise ServerError(f"{path}, meant for the server's socket, belongs to somebody else. Remove it.")
    remove_socket_directory(path)
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)
    account.take(path)
    return path


def remove_socket_directory(path: Path) -> None:
    """Remove the directory of a socket that no server listens on, if it is one of ours."""
    if path.name.startswith("pgbraid-") and path.is_dir() and not path.is_symlink():
        for left in path.glob(".s.PGSQL.*"):
            left.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # something else is in it: then it stays
            path.rmdir()


def size(path: Path) -> int:
    """Bytes on disk under a directory; files that vanish meanwhile do not count."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                facts = os.lstat(Path(folder) / name)
                total += facts.st_blocks * 512 if stat.S_ISREG(facts.st_mode) else 0
    return total


def throw_away(path: Path) -> None:
    """Remove a directory tree that may not be there."""
    shutil.rmtree(path, ignore_errors=True)


def _short_temporary() -> Path:
    """The directory for temporary files, or /tmp when its path is too long or too odd for a socket."""
    chosen = tempfile.gettempdir()
    fits = len(os.fsencode(chosen)) <= 60 and re.fullmatch(r"[\w./-]+", chosen, re.ASCII)
    return Path(chosen if fits else "/tmp")  # noqa: S108 - what is made there is checked for its owner
