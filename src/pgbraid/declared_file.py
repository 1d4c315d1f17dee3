"""A declared file as it is written: its sections and keys, what values they take, and what is said of wrong ones. Pure.

What the keys mean is for `pgbraid.declared`, which is the only reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from pgbraid.errors import SettingsError, UnknownOption, nearest
from pgbraid.selectors import Reply, Selector


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


def _example(value: str) -> str:
    if not value.strip():
        raise ValueError("an empty example says nothing")
    return value.strip()


def _distinct(value: list[str]) -> list[str]:
    if len(set(value)) < len(value):
        raise ValueError("a name stands in the list twice")
    return value


Name = Annotated[str, AfterValidator(_name)]
Names = Annotated[list[Name], Field(min_length=1), AfterValidator(_distinct)]
Example = Annotated[str, AfterValidator(_example)]
Rules = Annotated[list[Annotated[Any, AfterValidator(_rule)]], Field(min_length=1)] | None


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class WrittenEmbedder(_Part):
    kind: str
    model: str
    dimensions: int = Field(default=0, ge=0, le=4000)
    metric: Literal["cosine", "ip", "l2"] = "cosine"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = Field(default=0, ge=0)
    options: dict[str, Any] = Field(default_factory=dict)


class WrittenChunking(_Part):
    tokens: int = Field(ge=8, le=8192)
    overlap: int = Field(ge=0)

    @model_validator(mode="after")
    def _fits(self) -> WrittenChunking:
        if self.overlap > self.tokens // 2:
            raise ValueError(f"chunks overlap by at most half: {self.overlap} of {self.tokens} tokens is more")
        return self


class WrittenIndex(_Part):
    storage: Literal["halfvec", "vector"] = "halfvec"
    m: int = Field(default=16, ge=2, le=100)
    ef_construction: int = Field(default=64, ge=4, le=1000)
    ef_search: int = Field(default=100, ge=1, le=1000)
    exact_below: int = Field(default=10_000, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _fits(self) -> WrittenIndex:
        if self.ef_construction < 2 * self.m:
            raise ValueError(f"ef_construction is at least twice m: {self.ef_construction} is too small for {self.m}")
        return self


class WrittenCollection(_Part):
    embedder: Name
    description: str = ""
    language: str = "multilingual"
    chunking: WrittenChunking | None = None
    index: WrittenIndex = WrittenIndex()
    k1: float = Field(default=1.2, ge=0, le=10)
    b: float = Field(default=0.75, ge=0, le=1)
    tenants: bool = False


class WrittenMatch(_Part):
    any: Rules = None
    all: Rules = None
    none: Rules = None


class WrittenRoute(_Part):
    collections: Names
    match: WrittenMatch = WrittenMatch()
    examples: list[Example] = Field(default_factory=list)
    priority: int = Field(default=0, ge=-(2**31), lt=2**31)
    profile: Name | None = None
    description: str = ""
    enabled: bool = True

    @model_validator(mode="after")
    def _matches(self) -> WrittenRoute:
        if not (self.match.any or self.match.all or self.match.none or self.examples or self.description.strip()):
            raise ValueError("a route needs keywords in match, under any, all or none, or examples or a description")
        return self


class WrittenSemantic(_Part):
    embedder: Name
    threshold: float = Field(default=0.0, ge=-1, le=1)
    margin: float = Field(default=0.0, ge=0, le=2)
    max_routes: int = Field(default=1, ge=1, le=1000)
    nearest: int = Field(default=1, ge=1, le=1000)
    prototypes: int = Field(default=8, ge=1, le=1000)
    unsure: Reply = "next"
    failed: Reply = "next"

    @model_validator(mode="after")
    def _fits(self) -> WrittenSemantic:
        if self.nearest > self.prototypes:
            raise ValueError(f"nearest is at most prototypes: {self.nearest} of {self.prototypes} cannot be taken")
        return self


class WrittenClassifier(_Part):
    threshold: float = Field(default=0.5, ge=0, le=1)
    margin: float = Field(default=0.0, ge=0, le=1)
    max_routes: int = Field(default=1, ge=1, le=1000)
    unsure: Reply = "next"
    failed: Reply = "next"


_SELECTORS: Mapping[str, type[_Part]] = {"semantic": WrittenSemantic, "classifier": WrittenClassifier}


def _selector(value: object) -> Selector:
    if value == "rules":
        return Selector("rules")
    if isinstance(value, Mapping) and len(value) == 1:
        kind, settings = next(iter(value.items()))
        if kind in _SELECTORS and isinstance(settings, Mapping):
            try:
                written = _SELECTORS[kind].model_validate(settings)
            except ValidationError as error:
                said = (_of_selector(kind, p["type"], p["loc"], p["msg"]) for p in error.errors())
                raise ValueError("; ".join(said)) from None
            return Selector(kind, **written.model_dump())
    raise ValueError(
        f"a selector is rules or {{semantic: {{embedder: NAME, …}}}} or {{classifier: {{…}}}}; this is {value!r:.60}"
    )


def _of_selector(selector: str, kind: str, loc: tuple[int | str, ...], message: str) -> str:
    if kind == "extra_forbidden":
        known = _SELECTORS[selector].model_fields
        return f"there is no key {loc[-1]!r} in {selector}. {nearest(str(loc[-1]), known)}"
    return f"{selector}.{path_of(loc) or ' '}{message.removeprefix('Value error, ')}"


def _chain(value: list[Selector]) -> list[Selector]:
    if len({selector.kind for selector in value}) < len(value):
        raise ValueError("a selector stands in the list twice")
    return value


Chain = Annotated[list[Annotated[Any, AfterValidator(_selector)]], Field(min_length=1), AfterValidator(_chain)]


class WrittenFile(_Part):
    embedders: dict[Name, WrittenEmbedder] = Field(default_factory=dict)
    collections: dict[Name, WrittenCollection] = Field(default_factory=dict)
    profiles: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    routes: dict[Name, WrittenRoute] = Field(default_factory=dict)
    selectors: Chain = Field(default_factory=list)
    default: Literal["all", "none", "error"] | Names = "all"
    aliases: dict[Name, Name] = Field(default_factory=dict)


_PARTS: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): WrittenFile,
    ("embedders", "*"): WrittenEmbedder,
    ("collections", "*"): WrittenCollection,
    ("collections", "*", "chunking"): WrittenChunking,
    ("collections", "*", "index"): WrittenIndex,
    ("routes", "*"): WrittenRoute,
    ("routes", "*", "match"): WrittenMatch,
}


def explained(error: ValidationError, where: str) -> SettingsError:
    """Every problem, a line each, with its place; an unknown key with the nearest known one."""
    problems = error.errors(include_url=False, include_context=False)
    lines = list(dict.fromkeys(_problem(p["type"], p["loc"], p["msg"], p["input"]) for p in problems))
    unknown = any(p["type"] == "extra_forbidden" for p in problems)
    return (UnknownOption if unknown else SettingsError)("\n".join(where + line for line in lines))


def _problem(kind: str, loc: tuple[int | str, ...], message: str, given: object) -> str:
    if kind == "extra_forbidden":
        place = tuple("*" if i == 1 else str(part) for i, part in enumerate(loc[:-1]))
        known = _PARTS[place].model_fields
        return f"{path_of(loc[:-1])}there is no key {loc[-1]!r}. {nearest(str(loc[-1]), known)}"
    if kind == "missing":
        return f"{path_of(loc[:-1])}{loc[-1]} is missing."
    if len(loc) == 1 and given is None:
        return f"{loc[0]}: nothing stands here. Write what is meant, or {{}} for none at all."
    if loc[0] == "default":
        return f"default: all, none, error or a list of collections, not {given!r}."
    shown = "" if kind == "value_error" else f", not {given!r:.60}"
    return f"{path_of(loc)}{message.removeprefix('Value error, ')}{shown}."


def path_of(loc: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc if part != "[key]"]
    return "".join(parts).removeprefix(".") + ": " if parts else ""
