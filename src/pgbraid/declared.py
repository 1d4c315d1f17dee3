"""What a file declares: embedders, collections, profiles, routes, the default and aliases, read and checked.

Pure. `parse` turns YAML, a mapping or a path into a frozen `Declared`, or says which key is wrong and where. Whether the names exist
and what has to change is said by `pgbraid.changes`; doing it is left to the corridor `declare`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from pgbraid.errors import SettingsError, UnknownOption, nearest
from pgbraid.languages import text_config_of
from pgbraid.plan import with_options
from pgbraid.values import Json, Profile

Mode = Literal["any", "all", "none"]
Policy = Literal["all", "none", "error", "route"]
DEFAULT_ROUTE = "default"
_WORD = r"[0-9A-Za-z_\u00C0-\u024F]"  # not \w: to PostgreSQL Chinese characters are word characters, and 用NDA审批 holds NDA
_EDGE = re.compile(_WORD)
_PLAIN = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition of a route: what was written, and the regular expression that PostgreSQL matches without regard to case."""

    mode: Mode
    kind: Literal["keyword", "regex"]
    pattern: str
    expression: str


@dataclass(frozen=True, slots=True)
class Route:
    """When its rules match, these collections are asked."""

    name: str
    collections: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    priority: int = 0
    profile: str | None = None
    description: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Default:
    """What happens when no route matches; `collections` are asked by policy `route`."""

    policy: Policy
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared file. A section that is None was not in it and is left alone.

    Embedders and collections are the settings that were written, by their dotted names (`index.m`); what was not written is left to
    the model, to the defaults, or as it is. Profiles are settings over the defaults.
    """

    embedders: Mapping[str, Mapping[str, Json]]
    collections: Mapping[str, Mapping[str, Json]]
    profiles: Mapping[str, Mapping[str, Json]] | None = None
    routes: Mapping[str, Route] | None = None
    default: Default | None = None
    aliases: Mapping[str, str] | None = None


def parse(source: Declared | Mapping[str, Any] | Path | str) -> Declared:
    """What a file (Path), its text (str) or a mapping declares. Raises UnknownOption and SettingsError, with the place in the file."""
    if isinstance(source, Declared):
        return source
    where = f"{source}: " if isinstance(source, Path) else ""
    content = _content(source)
    try:
        return _declared(_File.model_validate(content))
    except ValidationError as error:
        raise _explained(error, where) from None
    except SettingsError as error:
        raise type(error)(f"{where}{error}") from error


def expression(keyword: str) -> str:
    """The regular expression of a keyword, for PostgreSQL.

    Where it begins or ends in a Latin letter or digit it must be a whole word there; Chinese, Japanese and Korean keywords match inside a
    run of characters. Any white space matches where it has some.
    """
    words = [re.sub(r"[^\w]", r"\\\g<0>", word) for word in keyword.split()]
    before = f"(?<!{_WORD})" if _EDGE.match(keyword.strip()) else ""
    after = f"(?!{_WORD})" if _EDGE.match(keyword.strip()[-1:]) else ""
    return before + r"\s+".join(words) + after


# ── the file as it is written ──────────────────────────────────────────────────────────────────────────────


def _name(value: str) -> str:
    if not value.strip() or value != value.strip() or len(value) > 100:
        raise ValueError("a name is 1 to 100 characters, without spaces around it")
    return value


def _rule(value: object) -> tuple[Literal["keyword", "regex"], str]:
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("an empty keyword would match every question")
        return "keyword", value.strip()
    if isinstance(value, Mapping) and set(value) == {"regex"} and isinstance(value["regex"], str) and value["regex"]:
        return "regex", value["regex"]
    raise ValueError(f"a keyword is text (quote it), a regular expression is {{regex: …}}; this is {value!r}")


def _distinct(value: list[str]) -> list[str]:
    if len(set(value)) < len(value):
        raise ValueError("a name stands in the list twice")
    return value


Name = Annotated[str, AfterValidator(_name)]
Names = Annotated[list[Name], Field(min_length=1), AfterValidator(_distinct)]
Rules = Annotated[list[Annotated[Any, AfterValidator(_rule)]], Field(min_length=1)] | None


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class _Embedder(_Part):
    kind: str
    model: str
    dimensions: int = Field(default=0, ge=0, le=4000)
    metric: Literal["cosine", "ip", "l2"] = "cosine"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = Field(default=0, ge=0)
    options: dict[str, Any] = Field(default_factory=dict)


class _Chunking(_Part):
    tokens: int = Field(ge=8, le=8192)
    overlap: int = Field(ge=0)

    @model_validator(mode="after")
    def _fits(self) -> _Chunking:
        if self.overlap > self.tokens // 2:
            raise ValueError(f"chunks overlap by at most half: {self.overlap} of {self.tokens} tokens is more")
        return self


class _Index(_Part):
    storage: Literal["halfvec", "vector"] = "halfvec"
    m: int = Field(default=16, ge=2, le=100)
    ef_construction: int = Field(default=64, ge=4, le=1000)
    ef_search: int = Field(default=100, ge=1, le=1000)
    exact_below: int = Field(default=10_000, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _fits(self) -> _Index:
        if self.ef_construction < 2 * self.m:
            raise ValueError(f"ef_construction is at least twice m: {self.ef_construction} is too small for {self.m}")
        return self


class _Collection(_Part):
    embedder: Name
    description: str = ""
    language: str = "multilingual"
    chunking: _Chunking | None = None
    index: _Index = _Index()
    k1: float = Field(default=1.2, ge=0, le=10)
    b: float = Field(default=0.75, ge=0, le=1)


class _Match(_Part):
    any: Rules = None
    all: Rules = None
    none: Rules = None


class _Route(_Part):
    collections: Names
    match: _Match
    priority: int = Field(default=0, ge=-(2**31), lt=2**31)
    profile: Name | None = None
    description: str = ""
    enabled: bool = True

    @model_validator(mode="after")
    def _matches(self) -> _Route:
        if not (self.match.any or self.match.all or self.match.none):
            raise ValueError("match needs keywords under any, all or none")
        return self


class _File(_Part):
    embedders: dict[Name, _Embedder] = Field(default_factory=dict)
    collections: dict[Name, _Collection] = Field(default_factory=dict)
    profiles: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    routes: dict[Name, _Route] = Field(default_factory=dict)
    default: Literal["all", "none", "error"] | Names = "all"
    aliases: dict[Name, Name] = Field(default_factory=dict)


_PARTS: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): _File,
    ("embedders", "*"): _Embedder,
    ("collections", "*"): _Collection,
    ("collections", "*", "chunking"): _Chunking,
    ("collections", "*", "index"): _Index,
    ("routes", "*"): _Route,
    ("routes", "*", "match"): _Match,
}


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


def _explained(error: ValidationError, where: str) -> SettingsError:
    """Every problem, a line each, with its place; an unknown key with the nearest known one."""
    problems = error.errors(include_url=False, include_context=False)
    lines = list(dict.fromkeys(_problem(p["type"], p["loc"], p["msg"], p["input"]) for p in problems))
    unknown = any(p["type"] == "extra_forbidden" for p in problems)
    return (UnknownOption if unknown else SettingsError)("\n".join(where + line for line in lines))


def _problem(kind: str, loc: tuple[int | str, ...], message: str, given: object) -> str:
    if kind == "extra_forbidden":
        place = tuple("*" if i == 1 else str(part) for i, part in enumerate(loc[:-1]))
        known = _PARTS[place].model_fields
        return f"{_path(loc[:-1])}there is no key {loc[-1]!r}. {nearest(str(loc[-1]), known)}"
    if kind == "missing":
        return f"{_path(loc[:-1])}{loc[-1]} is missing."
    if loc[0] == "default":
        return f"default: all, none, error or a list of collections, not {given!r}."
    shown = "" if kind == "value_error" else f", not {given!r:.60}"
    return f"{_path(loc)}{message.removeprefix('Value error, ')}{shown}."


def _path(loc: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc if part != "[key]"]
    return "".join(parts).removeprefix(".") + ": " if parts else ""


def _declared(file: _File) -> Declared:
    said = file.model_fields_set
    return Declared(
        embedders=_frozen({name: e.model_dump(exclude_unset=True) for name, e in file.embedders.items()}),
        collections=_frozen({name: _settings(name, c) for name, c in file.collections.items()}),
        profiles=_frozen({n: _profile(n, p) for n, p in file.profiles.items()}) if "profiles" in said else None,
        routes=_frozen({n: _read_route(n, r) for n, r in file.routes.items()}) if "routes" in said else None,
        default=_default(file.default) if "default" in said else None,
        aliases=_frozen(file.aliases) if "aliases" in said else None,
    )


def _frozen(values: dict[str, Any]) -> Mapping[str, Any]:
    _clean(values, ())
    return MappingProxyType(values)


def _clean(value: object, loc: tuple[str, ...]) -> None:
    """Raise SettingsError for text that PostgreSQL cannot store."""
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value)):
        raise SettingsError(f"{_path(loc)}text with NUL bytes or lone surrogates cannot be stored: {value!r:.60}.")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _clean(key, loc)
            _clean(inner, (*loc, str(key)))


def _settings(name: str, collection: _Collection) -> dict[str, Json]:
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


def _read_route(name: str, route: _Route) -> Route:
    if name == DEFAULT_ROUTE:
        raise SettingsError(f"routes.{name}: this name is kept for the section `default`. Choose another.")
    rules = tuple(
        Rule(mode, kind, pattern, pattern if kind == "regex" else expression(pattern))
        for mode, written in (("any", route.match.any), ("all", route.match.all), ("none", route.match.none))
        for kind, pattern in written or ()
    )
    _clean({str(i): rule.pattern for i, rule in enumerate(rules)}, ("routes", name, "match"))
    collections = tuple(sorted(route.collections))
    return Route(name, collections, rules, route.priority, route.profile, route.description, route.enabled)  # type: ignore[arg-type]


def _default(written: str | list[str]) -> Default:
    if isinstance(written, str):
        return Default(written)  # type: ignore[arg-type]
    return Default("route", tuple(sorted(written)))
