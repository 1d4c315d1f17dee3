"""From a spec to a reranker, loaded once a process: `KIND:MODEL#options` (see `spec`).

MODEL is a path, `wheel:PACKAGE/folder` or a hub name; for `endpoint` a URL. Functions of the user's come through
`from_callable`, and an embedder known by its name through `maxsim`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from pgbraid.errors import SettingsError, nearest
from pgbraid.rerank.spec import Spec, read_spec
from pgbraid.values import EmbedderRecord, Reranker

_loaded: dict[str, Reranker] = {}
_loading = threading.Lock()


def load(text: str) -> Reranker:
    """The reranker of a spec. Raises SettingsError for one that cannot be read, MissingExtra and ModelError."""
    spec = read_spec(text)
    if spec.kind not in _BUILDERS or not spec.model:
        raise SettingsError(
            f"{text!r} is no reranker: write KIND:MODEL, for instance cross-encoder:models/reranker. "
            f"{nearest(spec.kind, _BUILDERS)}"
        )
    with _loading:
        if text not in _loaded:
            _loaded[text] = _BUILDERS[spec.kind](spec)
        return _loaded[text]


def _cross_encoder(spec: Spec) -> Reranker:
    from pgbraid.embed.weights import require_models

    require_models(f"The reranker {spec.text}")
    from pgbraid.rerank import crossencoder

    return crossencoder.load(spec)


def _exits(spec: Spec) -> Reranker:
    from pgbraid.embed.weights import require_models

    require_models(f"The reranker {spec.text}")
    from pgbraid.rerank import exits

    return exits.load(spec)


def _endpoint(spec: Spec) -> Reranker:
    from pgbraid.rerank import endpoint

    return endpoint.load(spec)


def _maxsim(spec: Spec) -> Reranker:
    from pgbraid import embed
    from pgbraid.rerank.maxsim import maxsim

    spec.only(())
    record = EmbedderRecord(name=spec.text, kind="transformers", model=spec.model, dimensions=0)
    return maxsim(embed.load(record))


_BUILDERS: Mapping[str, Callable[[Spec], Reranker]] = {
    "cross-encoder": _cross_encoder,
    "exits": _exits,
    "endpoint": _endpoint,
    "maxsim": _maxsim,
}
