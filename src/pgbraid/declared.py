"""What a file declares: embedders, collections, profiles, routes, the default and aliases, read and checked.

Pure. `parse` turns YAML, a mapping or a path into a frozen `Declared`, or says which key is wrong and where. Whether
the names exist and what has to change is said by `pgbraid.changes`; doing it is left to the corridor `declare`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import yaml
from pydantic import ValidationError

from pgbraid.declared_file import WrittenCollection, WrittenFile, WrittenRoute, explained, path_of
from pgbraid.errors import SettingsError, UnknownOption
from pgbraid.languages import text_config_of
from pgbraid.plan import with_options
from pgbraid.selectors import Selector
from pgbraid.values import Json, Profile

Mode = Literal["any", "all", "none"]
Policy = Literal["all", "none", "error", "route"]
Kind = Literal["embedder", "collection", "profile", "route", "selectors", "default", "alias"]
Action = Literal["create", "change", "drop", "keep"]
DEFAULT_ROUTE = "default"
# Not \w: to PostgreSQL Chinese characters are word characters, and 用NDA审批 holds the word NDA.
_WORD = r"[0-9A-Za-z_\u00C0-\u024F]"
_EDGE = re.compile(_WORD)
_MARKS = re.compile(r"[!-/:-@\[-^`{-~]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition of a route: what was written, and the expression that PostgreSQL matches without regard to case."""

    mode: Mode
    kind: Literal["keyword", "regex"]
    pattern: str
    expression: str


@dataclass(frozen=True, slots=True)
class Route:
    """When its rules match, or the question is like its examples, these collections are asked."""

    name: str
    collections: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    priority: int = 0
    profile: str | None = None
    description: str = ""
    enabled: bool = True
    examples: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What a question is compared with: the description, where there is one, and the examples."""
        return tuple(dict.fromkeys(text for text in (self.description.strip(), *self.examples) if text))


@dataclass(frozen=True, slots=True)
class Default:
    """What happens when no route matches; `collections` are asked by policy `route`."""

    policy: Policy
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared file. A section that is None was not in it and is left alone.

    Embedders and collections are the settings that were written, by their dotted names (`index.m`); what was not
    written is left to the model, to the defaults, or as it is. Profiles are settings over the defaults.
    """

    embedders: Mapping[str, Mapping[str, Json]]
    collections: Mapping[str, Mapping[str, Json]]
    profiles: Mapping[str, Mapping[str, Json]] | None = None
    routes: Mapping[str, Route] | None = None
    selectors: tuple[Selector, ...] | None = None
    default: Default | None = None
    aliases: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is made, changed, dropped or already as declared; `detail` maps settings to (old, new)."""

    kind: Kind
    name: str
    action: Action
    detail: Mapping[str, tuple[Json, Json]]


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that a file is about, in order, and whether it was only looked at."""

    changes: tuple[Change, ...]
    dry_run: bool = False

    @property
    def empty(self) -> bool:
        """Whether everything already is as declared."""
        return all(change.action == "keep" for change in self.changes)

    def named(self, kind: Kind, *actions: Action) -> dict[str, Change]:
        """The changes of one kind with one of these actions, by name."""
        return {c.name: c for c in self.changes if c.kind == kind and c.action in actions}


def parse(source: Declared | Mapping[str, Any] | Path | str) -> Declared:
    """What a file (Path), its text (str) or a mapping declares.

    Raises UnknownOption and SettingsError, with the place in the file.
    """
    if isinstance(source, Declared):
        return source
    where = f"{source}: " if isinstance(source, Path) else ""
    content = _content(source)
    try:
        return _declared(WrittenFile.model_validate(content))
    except ValidationError as error:
        raise explained(error, where) from None
    except SettingsError as error:
        raise type(error)(f"{where}{error}") from error


def expression(keyword: str) -> str:
    """The regular expression of a keyword, for PostgreSQL.

    Where it begins or ends in a Latin letter or digit it must be a whole word there; Chinese, Japanese and Korean
    keywords match inside a run of characters. Any white space matches where it has some.
    """
    words = [_MARKS.sub(r"\\\g<0>", word) for word in keyword.split()]
    before = f"(?<!{_WORD})" if _EDGE.match(keyword.strip()) else ""
    after = f"(?!{_WORD})" if _EDGE.match(keyword.strip()[-1:]) else ""
    return before + r"\s+".join(words) + after


# ── reading ────────────────────────────────────────────────────────────────────────────────────────────────


class _Loader(yaml.SafeLoader):
    """YAML where a key that stands twice is an error, not the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands here twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def _content(source: Mapping[str, Any] | Path | str) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return source
    name = str(source) if isinstance(source, Path) else "the declaration"
    try:
        text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
        content = yaml.load(text, _Loader)  # noqa: S506 - _Loader is a SafeLoader
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"{name} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, Mapping):
        hint = " A path is given as Path(…)." if isinstance(source, str) and "\n" not in source else ""
        raise SettingsError(f"{name} declares nothing: expected sections like collections and routes.{hint}")
    return content


def _declared(file: WrittenFile) -> Declared:
    said = file.model_fields_set
    return Declared(
        embedders=_frozen({name: e.model_dump(exclude_unset=True) for name, e in file.embedders.items()}),
        collections=_frozen({name: _settings(name, c) for name, c in file.collections.items()}),
        profiles=_frozen({n: _profile(n, p) for n, p in file.profiles.items()}) if "profiles" in said else None,
        routes=_frozen({n: _read_route(n, r) for n, r in file.routes.items()}) if "routes" in said else None,
        selectors=tuple(file.selectors) if "selectors" in said else None,
        default=_default(file.default) if "default" in said else None,
        aliases=_frozen(file.aliases) if "aliases" in said else None,
    )


def _frozen(values: dict[str, Any]) -> Mapping[str, Any]:
    _clean(values, ())
    return MappingProxyType(values)


def _clean(value: object, loc: tuple[str, ...]) -> None:
    """Raise SettingsError for text that PostgreSQL cannot store."""
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value)):
        raise SettingsError(f"{path_of(loc)}text with NUL bytes or lone surrogates cannot be stored: {value!r:.60}.")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _clean(key, loc)
            _clean(inner, (*loc, str(key)))


def _settings(name: str, collection: WrittenCollection) -> dict[str, Json]:
    """The written settings of a collection, by dotted names."""
    try:
        text_config_of(collection.language)
    except SettingsError as error:
        raise SettingsError(f"collections.{name}.language: {error}") from error
    flat: dict[str, Json] = {}
    for key, value in collection.model_dump(exclude_unset=True, exclude_none=True).items():
        flat |= {f"{key}.{inner}": v for inner, v in value.items()} if isinstance(value, dict) else {key: value}
    return flat


def _profile(name: str, settings: dict[str, Json]) -> dict[str, Json]:
    if "name" in settings:
        raise UnknownOption(f"profiles.{name}: a profile's name is its key; take 'name' out.")
    try:
        with_options(Profile(name=name), settings)
    except SettingsError as error:
        raise type(error)(f"profiles.{name}: {error}") from error
    for key, value in settings.items():
        if value in (float("inf"), float("-inf")):
            raise SettingsError(f"profiles.{name}.{key}: a finite number, not {value!r}.")
    return {key: value for key, value in settings.items() if value is not None}


def _read_route(name: str, route: WrittenRoute) -> Route:
    if name == DEFAULT_ROUTE:
        raise SettingsError(f"routes.{name}: this name is kept for the section `default`. Choose another.")
    rules = tuple(
        Rule(mode, kind, pattern, pattern if kind == "regex" else expression(pattern))  # type: ignore[arg-type]
        for mode, written in (("any", route.match.any), ("all", route.match.all), ("none", route.match.none))
        for kind, pattern in written or ()
    )
    _clean({str(i): rule.pattern for i, rule in enumerate(rules)}, ("routes", name, "match"))
    _clean({str(i): text for i, text in enumerate(route.examples)}, ("routes", name, "examples"))
    return Route(
        name=name,
        collections=tuple(sorted(route.collections)),
        rules=rules,
        priority=route.priority,
        profile=route.profile,
        description=route.description,
        enabled=route.enabled,
        examples=tuple(dict.fromkeys(route.examples)),
    )


def _default(written: str | list[str]) -> Default:
    if isinstance(written, str):
        return Default(written)  # type: ignore[arg-type]
    return Default("route", tuple(sorted(written)))
