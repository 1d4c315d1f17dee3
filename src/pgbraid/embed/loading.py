"""From a record of the catalogue to an embedder: picks the kind, loads a model once, checks that it is the one meant.

What a kind needs and how it works is its module's business; those are imported only when a record asks for them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from pgbraid.errors import EmbedderMismatch, ModelError, SettingsError, UnknownOption, nearest
from pgbraid.values import EMPTY, Embedder, EmbedderRecord


class _Built(Embedder, Protocol):
    @property
    def query_prefix(self) -> str: ...

    @property
    def document_prefix(self) -> str: ...


def _transformers(record: EmbedderRecord) -> _Built:
    from pgbraid.embed.weights import require_models

    _only({"revision"}, record)
    require_models(f"The embedder {record.name!r} ({record.model})")
    from pgbraid.embed import transformer

    return transformer.build(record)


def _use(record: EmbedderRecord) -> _Built:
    from pgbraid.embed import use

    _only(use.OPTIONS, record)
    return use.build(record)


def _openai(record: EmbedderRecord) -> _Built:
    from pgbraid.embed import endpoint

    _only(endpoint.OPTIONS, record)
    return endpoint.build(record)


def _hashing(record: EmbedderRecord) -> _Built:
    from pgbraid.embed import hashing

    _only(hashing.OPTIONS, record)
    return hashing.build(record)


_BUILDERS: Mapping[str, Callable[[EmbedderRecord], _Built]] = {
    "hashing": _hashing,
    "openai": _openai,
    "transformers": _transformers,
    "use": _use,
}
KINDS = ("callable", *sorted(_BUILDERS))
_loaded: dict[str, _Built] = {}
_loading = threading.Lock()


def load(record: EmbedderRecord, registered: Mapping[str, Embedder] = EMPTY) -> Embedder:
    """The embedder of a record, loaded once a process. `registered` holds the functions given at run time, by name.

    Raises EmbedderMismatch when the record's dimensions or fingerprint are not the embedder's, ModelError when the
    model cannot be loaded, MissingExtra when it needs an extra, SettingsError for a wrong kind or option.
    """
    embedder = _registered(record, registered) if record.kind == "callable" else _built(record)
    _agree(record, embedder)
    return embedder


def describe(record: EmbedderRecord, registered: Mapping[str, Embedder] = EMPTY) -> EmbedderRecord:
    """The record with dimensions, max_tokens, fingerprint and prefixes as the loaded model has them.

    What the record already says is held against the model; its fingerprint is made anew. Raises as `load`.
    """
    unsigned = replace(record, fingerprint="")
    embedder = load(unsigned, registered)
    described = replace(
        unsigned,
        dimensions=embedder.dimensions,
        max_tokens=embedder.max_tokens,
        fingerprint=embedder.fingerprint,
        query_prefix=getattr(embedder, "query_prefix", record.query_prefix),
        document_prefix=getattr(embedder, "document_prefix", record.document_prefix),
    )
    if record.kind != "callable":
        with _loading:
            _loaded.setdefault(_key(described), _loaded[_key(record)])
    return described


def _built(record: EmbedderRecord) -> _Built:
    if record.kind not in _BUILDERS:
        raise SettingsError(f"There is no kind of embedder {record.kind!r}. {nearest(record.kind, KINDS)}")
    _sane(record)
    with _loading:
        key = _key(record)
        if key not in _loaded:
            _loaded[key] = _BUILDERS[record.kind](record)
        return _loaded[key]


def _key(record: EmbedderRecord) -> str:
    """Everything that decides how the embedder is built; neither its name nor what it is checked against."""
    own = (record.kind, record.model, record.dimensions, record.query_prefix, record.document_prefix, record.max_tokens)
    return json.dumps([*own, dict(record.options)], sort_keys=True, default=str)


def _sane(record: EmbedderRecord) -> None:
    for name, value in (("dimensions", record.dimensions), ("max_tokens", record.max_tokens)):
        if value < 0:
            raise SettingsError(f"{name} of the embedder {record.name!r} is {value}; 0 leaves it to the model.")


def _only(known: frozenset[str] | set[str], record: EmbedderRecord) -> None:
    for name in record.options:
        if name not in known:
            hint = nearest(name, known) if known else f"Embedders of the kind {record.kind!r} have none."
            raise UnknownOption(f"There is no option {name!r} (embedder {record.name!r}). {hint}")


def _registered(record: EmbedderRecord, registered: Mapping[str, Embedder]) -> Embedder:
    _only(set(), record)
    if record.query_prefix or record.document_prefix:
        raise SettingsError(
            f"The embedder {record.name!r} is a function and gets texts as they are: put prefixes in it."
        )
    if record.name not in registered:
        raise ModelError(
            f"The embedder {record.name!r} is a function that this process was not given: "
            f"call Braid.register_embedder({record.name!r}, embedder) before using its collections."
        )
    return registered[record.name]


def _agree(record: EmbedderRecord, embedder: Any) -> None:
    if record.dimensions and record.dimensions != embedder.dimensions:
        raise EmbedderMismatch(
            f"The embedder {record.name!r} is declared with {record.dimensions} dimensions, but {record.model!r} "
            f"has {embedder.dimensions}. Declare it as it is."
        )
    if record.fingerprint and record.fingerprint != embedder.fingerprint:
        raise EmbedderMismatch(
            f"The embedder {record.name!r} is another than the one that made its vectors: {record.model!r} is now "
            f"{embedder.fingerprint}, it was {record.fingerprint}. Restore that version, or declare a new embedder "
            "and rebuild the collections that use it."
        )
