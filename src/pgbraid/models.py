"""The models of this process, by name: loaded when first needed, checked against the catalogue."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pgbraid.errors import EmbedderMismatch, ModelError, NoSuchEmbedder, PgbraidError
from pgbraid.rerank.cache import ScoreCache
from pgbraid.values import Embedder, EmbedderRecord, Reranker


class Models:
    """Holds what is loaded. Objects that the application registers by name are used instead of loading.

    `threads` is how many torch may take once a model that needs it is loaded; None leaves torch as it is.
    `scores` keeps the rerank scores of that many pairs.
    """

    def __init__(self, threads: int | None = None, scores: int = 0) -> None:
        self._threads = threads
        self.scores = ScoreCache(scores)
        self._lock = threading.Lock()
        self._registered: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._checked: dict[tuple[str, str], Embedder] = {}

    def register_embedder(self, name: str, embedder: Embedder) -> None:
        """Use this object for the embedder of that name."""
        with self._lock:
            self._registered[name] = embedder
            self._checked = {key: e for key, e in self._checked.items() if key[0] != name}

    def register_reranker(self, name: str, reranker: Reranker) -> None:
        """Use this object where a profile says `rerank: name`."""
        with self._lock:
            self._rerankers[name] = reranker

    def embedder(self, record: EmbedderRecord) -> Embedder:
        """The embedder of a catalogue record. Raises EmbedderMismatch when it is another model than the record says."""
        with self._lock:
            known = self._checked.get((record.name, record.fingerprint))
            if known is None:
                known = self._registered.get(record.name) or self._load(record)
                check_fingerprint(record, known)
                self._checked[record.name, record.fingerprint] = known
            return known

    def describe(self, record: EmbedderRecord) -> EmbedderRecord:
        """The record completed from the model itself, or from the object registered under its name."""
        from dataclasses import replace

        from pgbraid import embed

        known = self._registered.get(record.name)
        if known is None:
            return embed.describe(record)
        return replace(record, dimensions=known.dimensions, max_tokens=known.max_tokens, fingerprint=known.fingerprint)

    def reranker(self, spec: str, embedders: Mapping[str, EmbedderRecord]) -> Reranker:
        """The reranker of a profile:

        a registered name, `maxsim:EMBEDDER` of the catalogue, or what `rerank.load` understands.
        """
        from pgbraid import rerank

        with self._lock:
            known = self._rerankers.get(spec)
        if known is not None:
            return known
        kind, _, name = spec.partition(":")
        if kind == "maxsim" and name in embedders:
            loaded = rerank.maxsim(self.embedder(embedders[name]))
        elif kind == "maxsim" and not any(mark in name for mark in "/:."):
            raise NoSuchEmbedder(name, embedders)
        else:
            loaded = rerank.load(spec)
            self._limit_threads()
        with self._lock:
            return self._rerankers.setdefault(spec, loaded)

    def _load(self, record: EmbedderRecord) -> Embedder:
        from pgbraid import embed

        loaded = embed.load(record)
        if record.kind == "transformers":
            self._limit_threads()
        return loaded

    def _limit_threads(self) -> None:
        from pgbraid import embed

        if self._threads is not None:
            embed.limit_threads(self._threads)


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Whatever a model raises becomes ModelError, for it may be anybody's code."""
    try:
        yield
    except PgbraidError:
        raise
    except Exception as error:
        raise ModelError(f"{what} failed: {type(error).__name__}: {error}") from error


def check_fingerprint(record: EmbedderRecord, embedder: Embedder) -> None:
    """Raise EmbedderMismatch unless the model is the one that the collection's vectors were made with."""
    if embedder.dimensions != record.dimensions:
        raise EmbedderMismatch(
            f"Embedder {record.name!r} gives {embedder.dimensions} dimensions, the catalogue says {record.dimensions}. "
            "Vectors of two models cannot be compared: restore the model, or register the new one "
            "under another name and re-embed."
        )
    if embedder.fingerprint != record.fingerprint:
        raise EmbedderMismatch(
            f"Embedder {record.name!r} is another model than the one its collections were made with "
            f"(fingerprint {embedder.fingerprint:.24}…, stored {record.fingerprint:.24}…). "
            "Restore the model, or register the new one under another name and re-embed."
        )
