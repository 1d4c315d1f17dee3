"""The name of a reranker in a profile, read: `KIND:MODEL`, and options behind a `#`.

cross-encoder:models/reranker#precision=fp32,max_tokens=256
exits:models/layered#layer=6,dimensions=256
endpoint:http://localhost:8080/rerank#shape=tei
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pgbraid.errors import SettingsError, UnknownOption, nearest


@dataclass(frozen=True, slots=True)
class Spec:
    """A reranker's kind, its model, and options as they were written."""

    text: str
    kind: str
    model: str
    options: Mapping[str, str]

    def only(self, known: Collection[str]) -> None:
        """Raise UnknownOption for an option that this kind does not have."""
        for key in self.options:
            if key not in known:
                raise UnknownOption(f"{self.text!r}: a {self.kind} has no option {key!r}. {nearest(key, known)}")

    def whole(self, key: str) -> int | None:
        """An option that is a whole number from 1. Raises SettingsError."""
        value = self.options.get(key)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or int(value) < 1:
            raise SettingsError(f"{self.text!r}: {key} is a whole number from 1, not {value!r}")
        return int(value)

    def one_of(self, key: str, choices: Collection[str], default: str) -> str:
        """An option that is one of some words. Raises SettingsError."""
        value = self.options.get(key, default)
        if value not in choices:
            raise SettingsError(f"{self.text!r}: {key} is one of {', '.join(choices)}, not {value!r}")
        return value


def read_spec(text: str) -> Spec:
    """A spec from its text. Raises SettingsError for one that has no model or an option without a value."""
    body, _, behind = text.partition("#")
    kind, _, model = body.partition(":")
    options: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in behind.split(","))):
        key, sign, value = (word.strip() for word in part.partition("="))
        if not sign or not key or not value or key in options:
            raise SettingsError(f"{text!r}: options are key=value, separated by commas and each once, not {part!r}")
        options[key] = value
    return Spec(text, kind, model, options)
