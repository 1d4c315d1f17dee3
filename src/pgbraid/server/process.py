"""The server's process: whether it runs, starting it so that it outlives us, stopping it and no other.

PostgreSQL writes its process id into `postmaster.pid`. The file stays when the server is killed, and its number may
by then be another process's, so a number counts only when that process is a postgres with this data directory.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgbraid.errors import MissingExtra, ServerError
from pgbraid.server import binaries
from pgbraid.server.account import Account
from pgbraid.server.place import Place

PORT = 5432  # of the socket; nothing listens on the network
START_SECONDS = 300.0  # recovery after a crash may take its time
STOP_SECONDS = 60.0
NO_PROCESS = 99_999_999  # above every system's largest process id
STILL_DYING = "pre-existing shared memory block"  # processes of a killed server are not all gone yet
# The shell's only task is to leave at once, so that the server's parent is the system and not us.
DETACH = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'


@dataclass(frozen=True, slots=True)
class Postmaster:
    """What `postmaster.pid` says."""

    pid: int
    socket: Path
    ready: bool


def running(data: Path) -> Postmaster | None:
    """The server of this data directory, when it runs. Raises ServerError when that may not be known."""
    found = _read(data)
    return found if found is not None and _serves(found.pid, data) else None


def settled(data: Path) -> Postmaster | None:
    """The server of this data directory once it takes connections; None when it does not run, or has ended.

    A server that is just starting or stopping is waited for. Raises ServerError when that takes too long.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        found = running(data)
        if found is None or found.ready:
            return found
        if time.monotonic() > deadline:
            raise ServerError(f"The server of {data} (process {found.pid}) neither starts nor stops.")
        time.sleep(0.05)


def start(place: Place, account: Account, socket: Path) -> Postmaster:
    """Start the server and wait until it takes connections. Raises ServerError with the end of its log."""
    _forget_stale(place.data)
    deadline = time.monotonic() + START_SECONDS
    while True:
        written = place.log.stat().st_size if place.log.exists() else 0
        pid = _launch(place, account, socket)
        while alive(pid):
            found = _read(place.data)
            if found is not None and found.pid == pid and found.ready:
                return found
            if time.monotonic() > deadline:
                raise ServerError(f"The server is not ready after {START_SECONDS:.0f} s:\n{place.last_words()}")
            time.sleep(0.02)
        said = place.log.read_bytes()[written:].decode("utf-8", "replace")
        if STILL_DYING not in said or time.monotonic() > deadline - START_SECONDS + 20:
            raise ServerError(f"The server in {place.directory} does not start. It said:\n{place.last_words()}")
        time.sleep(0.3)


def stop(data: Path, postmaster: Postmaster) -> None:
    """End the server: first sessions are ended and all is written, and only if that hangs, at once."""
    for sign, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 20.0)):
        if not _serves(postmaster.pid, data):
            return
        try:
            os.kill(postmaster.pid, sign)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise ServerError(f"The server of {data} (process {postmaster.pid}) is another user's: {error}.") from error
        if _waited(lambda: not alive(postmaster.pid), seconds):
            return
    raise ServerError(f"The server of {data} (process {postmaster.pid}) does not stop.")


def alive(pid: int) -> bool:
    """Whether a process runs. One that ended and was not collected by its parent does not."""
    psutil = _psutil()
    try:
        return bool(psutil.Process(pid).status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})
    except psutil.NoSuchProcess:
        return False


def _serves(pid: int, data: Path) -> bool:
    """Whether this process is a postgres with this data directory.

    By its command line: the working directory would say more, but root in a container may not see it.
    """
    psutil = _psutil()
    try:
        command = psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied as error:
        raise ServerError(f"Process {pid} may be the server of {data}, but cannot be looked at: {error}.") from error
    return bool(command) and Path(command[0]).name == "postgres" and str(data) in command


def _launch(place: Place, account: Account, socket: Path) -> int:
    place.log.touch(mode=0o600)
    account.take(place.log)
    server = [binaries.binary("postgres"), "-D", place.data, "-p", PORT, "-c", f"unix_socket_directories={socket}"]
    said = binaries.run(["/bin/sh", "-c", DETACH, "sh", place.log, *map(str, server)], account)
    return int(said)


def _read(data: Path) -> Postmaster | None:
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ServerError(f"{data} cannot be looked at: {error}.") from error
    if len(lines) < 5 or not lines[0].strip().isdigit():
        return None
    return Postmaster(int(lines[0]), Path(lines[4]), ready=len(lines) > 7 and lines[7].strip() == "ready")


def _forget_stale(data: Path) -> None:
    """Take the number of a dead server out of `postmaster.pid`, since a living process may have it by now.

    The rest of the file stays: with it PostgreSQL sees whether processes of the dead server still use the data.
    """
    path = data / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        if len(lines) < 7:  # the server was killed while it wrote the file
            path.unlink()
        else:
            path.write_text("".join([f"{NO_PROCESS}\n", *lines[1:]]), encoding="utf-8")


def _waited(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _psutil() -> Any:
    try:
        return importlib.import_module("psutil")
    except ImportError as error:
        raise MissingExtra("The embedded server", "embedded") from error
