"""From a spec to a reranker, loaded once a process: `cross-encoder:MODEL` or `maxsim:MODEL`.

MODEL is a path, `wheel:PACKAGE/folder` or a hub name. Functions of the user's come through `from_callable`, and an
embedder known by its name through `maxsim`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from pgbraid.errors import SettingsError, nearest
from pgbraid.values import EmbedderRecord, Reranker

_loaded: dict[str, Reranker] = {}
_loading = threading.Lock()


def load(spec: str) -> Reranker:
    """The reranker of a spec. Raises SettingsError for one that cannot be read, MissingExtra and ModelError."""
    kind, _, model = spec.partition(":")
    if kind not in _BUILDERS or not model:
        raise SettingsError(
            f"{spec!r} is no reranker: write KIND:MODEL, for instance cross-encoder:models/reranker. "
            f"{nearest(kind, _BUILDERS)}"
        )
    with _loading:
        if spec not in _loaded:
            _loaded[spec] = _BUILDERS[kind](model)
        return _loaded[spec]


def _cross_encoder(model: str) -> Reranker:
    from pgbraid.embed.weights import require_models

    require_models(f"The reranker cross-encoder:{model}")
    from pgbraid.rerank import crossencoder

    return crossencoder.load(model)


def _maxsim(model: str) -> Reranker:
    from pgbraid import embed
    from pgbraid.rerank.maxsim import maxsim

    record = EmbedderRecord(name=f"maxsim:{model}", kind="transformers", model=model, dimensions=0)
    return maxsim(embed.load(record))


_BUILDERS: Mapping[str, Callable[[str], Reranker]] = {"cross-encoder": _cross_encoder, "maxsim": _maxsim}
