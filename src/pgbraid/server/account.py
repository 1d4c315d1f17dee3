"""Which user of the operating system the server runs as, and what that user must be allowed to reach.

PostgreSQL refuses to run as root. Started by root, it runs as the owner of its data, or as a system user `pgbraid`
made for it. That user gets its data directory and, on the directories above, the right to pass through and nothing
else: an access control entry for this one user where the file system has them, so a home directory stays closed.
"""

from __future__ import annotations

import logging
import os
import pwd
import shutil
import stat
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgbraid.errors import ServerError

NAME = "pgbraid"
ACL = "system.posix_acl_access"
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 0x01, 0x02, 0x04, 0x10, 0x20  # tags of acl(5)
SEARCH = 0x1
NOBODY_IN_PARTICULAR = 0xFFFFFFFF
_log = logging.getLogger("pgbraid.server")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the operating system; `switched` when it is not the one this process runs as."""

    name: str
    uid: int
    gid: int
    switched: bool

    def switch(self) -> dict[str, Any]:
        """What `subprocess` needs to start a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switched else {}

    def take(self, path: Path) -> None:
        """Make this user the owner of a file or directory."""
        if self.switched:
            os.chown(path, self.uid, self.gid)


def for_data(data: Path) -> Account:
    """The user that runs the server of this data directory, which need not exist yet. Raises ServerError."""
    if os.geteuid() != 0:
        return _known(os.geteuid(), os.getegid(), switched=False)
    if data.exists() and data.stat().st_uid != 0:
        return _known(data.stat().st_uid, data.stat().st_gid, switched=True)
    found = _entry(NAME) or _made() or _entry("nobody")
    if found is None:
        raise ServerError(
            f"PostgreSQL does not run as root, and the user {NAME!r} cannot be made here. "
            f"Run: useradd --system {NAME}, or start pgbraid as another user."
        )
    return Account(found.pw_name, found.pw_uid, found.pw_gid, switched=True)


def let_pass(path: Path, account: Account) -> None:
    """Let the user pass through every directory above `path`; none becomes readable to anybody."""
    if not account.switched:
        return
    for parent in reversed(path.resolve().parents):
        facts = parent.stat()
        if facts.st_mode & stat.S_IXOTH or (facts.st_uid == account.uid and facts.st_mode & stat.S_IXUSR):
            continue
        _grant_search(parent, account, facts.st_mode)


def _known(uid: int, gid: int, *, switched: bool) -> Account:
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:  # an unnamed user of a container; the data of a user that a former container had
        name = str(uid)
    return Account(name, uid, gid, switched)


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _made() -> pwd.struct_passwd | None:
    """Make the system user with whichever tool this system has; None when it has none or may not."""
    ways = (
        ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME],
        ["adduser", "-S", "-D", "-H", "-s", "/sbin/nologin", NAME],
    )
    for way in ways:
        if shutil.which(way[0]):
            done = subprocess.run(way, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
            _log.info("made the system user %s: %s", NAME, done.stderr.strip() or "done")
            break
    return _entry(NAME)


def _grant_search(directory: Path, account: Account, mode: int) -> None:
    try:
        os.setxattr(directory, ACL, with_search(_entries(directory, mode), account.uid))
        _log.info("%s may now pass through %s", account.name, directory)
    except (OSError, AttributeError):  # a file system, or a system, without such entries
        try:
            directory.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
        except OSError as error:
            raise ServerError(
                f"The user {account.name!r}, who runs the server, cannot pass through {directory}: {error}. "
                "Choose another directory for the server (PGBRAID_SERVER_DIR)."
            ) from error
        _log.warning("everybody may now pass through %s, though not read it", directory)


def _entries(directory: Path, mode: int) -> dict[tuple[int, int], int]:
    """The access control list of a directory: (tag, id) to permission bits."""
    try:
        raw = os.getxattr(directory, ACL)
    except OSError:
        return {
            (USER_OBJ, NOBODY_IN_PARTICULAR): mode >> 6 & 7,
            (GROUP_OBJ, NOBODY_IN_PARTICULAR): mode >> 3 & 7,
            (OTHER, NOBODY_IN_PARTICULAR): mode & 7,
        }
    return {(tag, who): bits for tag, bits, who in struct.iter_unpack("<HHI", raw[4:])}


def with_search(entries: dict[tuple[int, int], int], uid: int) -> bytes:
    """The same list in the kernel's form, with one more right: this user may search the directory."""
    granted = dict(entries)
    own = (USER, uid)
    granted[own] = granted.get(own, 0) | SEARCH
    mask = (MASK, NOBODY_IN_PARTICULAR)
    granted[mask] = granted.get(mask, granted[GROUP_OBJ, NOBODY_IN_PARTICULAR]) | SEARCH
    packed = (struct.pack("<HHI", tag, bits, who) for (tag, who), bits in sorted(granted.items()))
    return struct.pack("<I", 2) + b"".join(packed)
