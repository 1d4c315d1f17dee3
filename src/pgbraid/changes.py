"""What has to change so that the catalogue is what a file declares. Pure.

Names that do not exist, and changes that would need new embeddings, are refused here, before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgbraid.declared import DEFAULT_ROUTE, Action, Change, Declared, Default, Kind, Route
from pgbraid.errors import SettingsError, nearest
from pgbraid.languages import text_config_of
from pgbraid.selectors import Selector, settings_of
from pgbraid.values import Chunking, Collection, CollectionSpec, EmbedderRecord, Json, VectorIndex

IN_PLACE = frozenset({"description", "index.ef_search", "index.exact_below"})
_MODEL_FILLS = ("dimensions", "query_prefix", "document_prefix", "max_tokens")
_SAID_IN_FULL: Mapping[str, Json] = {"kind": "", "model": "", "metric": "cosine", "options": {}}


@dataclass(frozen=True, slots=True)
class Stored:
    """The catalogue as it is. `default_route` names the route that the default asks; `routes` are the others."""

    embedders: Mapping[str, EmbedderRecord]
    collections: Mapping[str, Collection]
    profiles: Mapping[str, Mapping[str, Json]]
    routes: Mapping[str, Route]
    default: Default
    default_route: str | None
    aliases: Mapping[str, str]
    text_configs: frozenset[str]
    selectors: tuple[Selector, ...] = ()
    classifier: int | None = None


def record_of(name: str, settings: Mapping[str, Json]) -> EmbedderRecord:
    """A declared embedder as a record; what was not written is left to the model."""
    return EmbedderRecord(name=name, **{"dimensions": 0, **settings})


def spec_of(name: str, settings: Mapping[str, Json]) -> CollectionSpec:
    """A declared collection as a specification."""
    parts: dict[str, dict[str, Any]] = {"": {}, "chunking": {}, "index": {}}
    for key, value in settings.items():
        part, _, inner = key.rpartition(".")
        parts[part][inner] = value
    chunking = Chunking(**parts["chunking"]) if parts["chunking"] else None
    return CollectionSpec(name=name, chunking=chunking, index=VectorIndex(**parts["index"]), **parts[""])


def undescribed(declared: Declared, stored: Mapping[str, EmbedderRecord]) -> tuple[EmbedderRecord, ...]:
    """The embedders that are new or written differently: only their models can tell what they are."""
    return tuple(
        record_of(name, settings)
        for name, settings in declared.embedders.items()
        if name not in stored or _written_differently(settings, stored[name])
    )


def _written_differently(settings: Mapping[str, Json], stored: EmbedderRecord) -> bool:
    written = {**_SAID_IN_FULL, **settings}
    return any(getattr(stored, key) != value for key, value in written.items())


# ── does it fit? ───────────────────────────────────────────────────────────────────────────────────────────


def check(declared: Declared, stored: Stored) -> None:
    """Raise SettingsError for a name that does not exist, is taken, or is needed by something that stays."""
    for name, settings in declared.collections.items():
        place = f"collections.{name}"
        _known("embedder", settings["embedder"], {*declared.embedders, *stored.embedders}, f"{place}.embedder")
        config = text_config_of(settings.get("language", "multilingual"))
        _known("text search configuration", config, stored.text_configs, f"{place}.language")
    _check_profiles(declared, stored)
    _check_routes(declared, stored)
    _check_aliases(declared, stored)
    for number, selector in enumerate(declared.selectors or ()):
        if selector.embedder is not None:
            known = {*declared.embedders, *stored.embedders}
            _known("embedder", selector.embedder, known, f"selectors[{number}].semantic.embedder")
        if selector.kind == "classifier" and stored.classifier is None:
            raise SettingsError(
                f"selectors[{number}].classifier: no version of the classifier is active. Apply the routes first, then "
                "`pgbraid route train` and `pgbraid route activate`."
            )


def _known(kind: str, name: str, known: Iterable[str], place: str) -> None:
    known = set(known)
    if name not in known:
        raise SettingsError(f"{place}: there is no {kind} {name!r}. {nearest(name, known)}")


def _check_profiles(declared: Declared, stored: Stored) -> None:
    """A reranker over an embedder needs that embedder; a dropped profile must not be used by a route that stays."""
    for name, settings in (declared.profiles or {}).items():
        kind, _, model = (settings.get("rerank") or "").partition(":")
        if kind == "maxsim" and not any(mark in model for mark in "/:."):
            _known("embedder", model, {*declared.embedders, *stored.embedders}, f"profiles.{name}.rerank")
    if declared.profiles is None:
        return
    routes = stored.routes if declared.routes is None else {}
    for route in routes.values():
        if route.profile is not None and route.profile not in declared.profiles:
            raise SettingsError(
                f"profiles: {route.profile!r} would be dropped, but route {route.name!r} uses it and the file has "
                "no routes. Declare the profile, or the routes too."
            )


def _check_routes(declared: Declared, stored: Stored) -> None:
    collections = {*declared.collections, *stored.collections}
    profiles = stored.profiles if declared.profiles is None else declared.profiles
    for name, route in (declared.routes or {}).items():
        for collection in route.collections:
            _known("collection", collection, collections, f"routes.{name}.collections")
        if route.profile is not None:
            _known("profile", route.profile, profiles, f"routes.{name}.profile")
    for collection in declared.default.collections if declared.default else ():
        _known("collection", collection, collections, "default")
    gone = stored.routes.keys() - (stored.routes if declared.routes is None else declared.routes).keys()
    if stored.default_route in gone and declared.default is None:
        raise SettingsError(f"routes: the default asks route {stored.default_route!r}: declare `default` too.")


def _check_aliases(declared: Declared, stored: Stored) -> None:
    collections = {*declared.collections, *stored.collections}
    aliases = stored.aliases if declared.aliases is None else declared.aliases
    for alias, collection in aliases.items():
        _known("collection", collection, collections, f"aliases.{alias}")
        if alias in collections:
            raise SettingsError(f"aliases.{alias}: there is a collection of that name. Choose another alias.")


# ── what changes? ──────────────────────────────────────────────────────────────────────────────────────────


def difference(declared: Declared, stored: Stored, described: Mapping[str, EmbedderRecord]) -> tuple[Change, ...]:
    """The changes, in the order in which they are made. `described` are the embedders of `undescribed`, completed.

    Raises SettingsError for what would need new embeddings.
    """
    return (
        *(_embedder(n, stored.embedders.get(n), described.get(n), stored) for n in declared.embedders),
        *(_collection(n, settings, stored.collections.get(n)) for n, settings in declared.collections.items()),
        *_section("profile", declared.profiles, stored.profiles),
        *_routes(declared.routes, stored.routes),
        *_selectors(declared.selectors, stored.selectors),
        *_default(declared.default, stored),
        *_section("alias", _shown_aliases(declared.aliases), _shown_aliases(stored.aliases) or {}),
    )


def _embedder(name: str, old: EmbedderRecord | None, new: EmbedderRecord | None, stored: Stored) -> Change:
    if new is None:
        return Change("embedder", name, "keep", {})
    fields = ("kind", "model", "metric", "options", *_MODEL_FILLS, "fingerprint")
    fresh = {key: getattr(new, key) for key in fields}
    if old is None:
        return Change("embedder", name, "create", _changed({}, {k: v for k, v in fresh.items() if v not in ("", {})}))
    detail = _changed({key: getattr(old, key) for key in fields}, fresh)
    if fatal := detail.keys() & {"fingerprint", "dimensions", "metric"}:
        users = ", ".join(sorted(c.name for c in stored.collections.values() if c.embedder.name == name))
        way = f"drop the collections that use it ({users}) and the embedder, apply again and ingest them anew"
        raise SettingsError(
            f"embedders.{name}: {_said(detail)} gives other vectors ({', '.join(sorted(fatal))} would change), so "
            "everything has to be embedded again. Declare it under another name, or "
            f"{way if users else 'drop the embedder first'}."
        )
    return Change("embedder", name, "change" if detail else "keep", detail)


def _collection(name: str, settings: Mapping[str, Json], old: Collection | None) -> Change:
    if old is None:
        return Change("collection", name, "create", _changed({}, settings))
    detail = _changed({key: _setting(old, key) for key in settings}, settings)
    fixed = {key: pair for key, pair in detail.items() if key not in IN_PLACE}
    if fixed:
        raise SettingsError(
            f"collections.{name}: {_said(fixed)} cannot change in place: its chunks have to be made and embedded "
            f"again. Drop the collection (pgbraid collection drop {name}), apply again and ingest its documents anew."
        )
    return Change("collection", name, "change" if detail else "keep", detail)


def _setting(collection: Collection, key: str) -> Json:
    if key == "embedder":
        return collection.embedder.name
    value: object = collection
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _section(
    kind: Kind, new: Mapping[str, Mapping[str, Json]] | None, old: Mapping[str, Mapping[str, Json]]
) -> Iterator[Change]:
    """A section that is in the file is the whole truth; one that is not is left alone."""
    if new is None:
        return
    for name, settings in new.items():
        detail = _changed(old.get(name, {}), settings)
        action: Action = "create" if name not in old else "change" if detail else "keep"
        yield Change(kind, name, action, detail)
    for name in sorted(old.keys() - new.keys()):
        yield Change(kind, name, "drop", _changed(old[name], {}))


def _routes(new: Mapping[str, Route] | None, old: Mapping[str, Route]) -> Iterator[Change]:
    """Routes as they were written; a keyword that an older version read in another way is a change too."""
    for change in _section("route", _shown_routes(new), _shown_routes(old) or {}):
        if change.action == "keep" and new and new[change.name] != old[change.name]:
            pair = tuple([rule.expression for rule in routes[change.name].rules] for routes in (old, new))
            yield Change("route", change.name, "change", {"expressions": pair})  # type: ignore[dict-item]
        else:
            yield change


def _default(new: Default | None, stored: Stored) -> Iterator[Change]:
    if new is None:
        return
    detail = _changed({"default": _shown_default(stored.default)}, {"default": _shown_default(new)})
    if stored.default_route not in (None, DEFAULT_ROUTE):  # made by hand: from now on it is a route of its own
        detail["route"] = (stored.default_route, DEFAULT_ROUTE)
    yield Change("default", DEFAULT_ROUTE, "change" if detail else "keep", detail)


def _selectors(new: Sequence[Selector] | None, old: Sequence[Selector]) -> Iterator[Change]:
    """The chain as a whole: its order counts."""
    if new is None:
        return
    detail = _changed(
        {"selectors": [_shown_selector(s) for s in old]}, {"selectors": [_shown_selector(s) for s in new]}
    )
    yield Change("selectors", "selectors", "change" if detail else "keep", detail)


def _shown_selector(selector: Selector) -> Json:
    if selector.kind == "rules":
        return "rules"
    shown = settings_of(selector)
    return {selector.kind: shown if selector.embedder is None else {"embedder": selector.embedder, **shown}}


def _shown_default(default: Default) -> Json:
    return list(default.collections) if default.policy == "route" else default.policy


def _shown_routes(routes: Mapping[str, Route] | None) -> dict[str, dict[str, Json]] | None:
    return None if routes is None else {name: _shown_route(route) for name, route in routes.items()}


def _shown_route(route: Route) -> dict[str, Json]:
    match: dict[str, list[Json]] = {}
    for rule in route.rules:
        match.setdefault(rule.mode, []).append(rule.pattern if rule.kind == "keyword" else {"regex": rule.pattern})
    shown: dict[str, Json] = {"collections": list(route.collections), "match": match}
    usual = Route(route.name, route.collections)
    for key in ("priority", "profile", "description", "enabled"):
        if getattr(route, key) != getattr(usual, key):
            shown[key] = getattr(route, key)
    if route.examples:
        shown["examples"] = list(route.examples)
    return shown


def _shown_aliases(aliases: Mapping[str, str] | None) -> dict[str, dict[str, Json]] | None:
    return None if aliases is None else {alias: {"collection": name} for alias, name in aliases.items()}


def _changed(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, tuple[Json, Json]]:
    keys = [*new, *(key for key in old if key not in new)]
    return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}


def _said(detail: Mapping[str, tuple[Json, Json]]) -> str:
    shown = {key: pair for key, pair in detail.items() if key != "fingerprint"} or detail
    return ", ".join(f"{key} {old!r} → {new!r}" for key, (old, new) in shown.items())
