"""What frameworks' settings have in common: a dictionary with keys in upper case, some of `pgbraid.Settings`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pgbraid.errors import SettingsError, UnknownOption, nearest
from pgbraid.settings import Settings

NAME = "PGBRAID"


def settings_in(given: object, ours: Collection[str], refused: Mapping[str, str]) -> dict[str, Any]:
    """The values of `pgbraid.Settings` in a framework's dictionary, by their names in lower case.

    `ours` are further keys that the caller reads itself; `refused` gives, by setting, what is used instead of it.
    Raises SettingsError for what is no dictionary, UnknownOption for a key that is not understood.
    """
    if not isinstance(given, Mapping):
        raise SettingsError(f"{NAME} is a dictionary, not {given!r}.")
    known = {*ours, *(name.upper() for name in Settings.model_fields if name not in refused)}
    for key in given:
        if str(key).lower() in refused:
            raise UnknownOption(f"{NAME}[{key!r}] is not for this place: use {refused[str(key).lower()]}.")
        if key not in known:
            raise UnknownOption(f"There is no setting {NAME}[{key!r}]. {nearest(str(key), known)}")
    return {key.lower(): value for key, value in given.items() if key not in ours}
