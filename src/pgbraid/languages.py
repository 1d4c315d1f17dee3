"""Which text search configuration a language means.

A language is one of the words below, or the name of any installed configuration, with its schema unless it is
PostgreSQL's own. Chinese, Japanese and Korean are cut into overlapping pairs whatever the configuration
(`pgbraid.pairs_v1`), so `simple`, which neither stems nor stops, serves them and mixed text.
"""

from __future__ import annotations

import re

from pgbraid.errors import SettingsError

_SIMPLE = frozenset({"multilingual", "chinese", "japanese", "korean", "simple"})
_ISO = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_SIMPLE_ISO = frozenset({"zh", "ja", "ko"})


def text_config_of(language: str) -> str:
    """The configuration of a language.

    Raises SettingsError for what cannot be one; PostgreSQL says whether it is installed.
    """
    word = language.strip().lower()
    if word in _SIMPLE or word in _SIMPLE_ISO:
        return "simple"
    word = _ISO.get(word, word)
    if not re.fullmatch(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?", word):
        raise SettingsError(
            f"{language!r} is no language: use english, multilingual, zh, … or the name of a text search configuration"
        )
    return word
