"""A cross-encoder: a transformer that reads question and text together and gives one number, on the CPU.

The number is the raw logit, neither squashed nor scaled. Imported only when such a model is wanted: it loads torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from pgbraid.embed import batches
from pgbraid.embed.files import locate
from pgbraid.embed.tokens import ModelTokens, Pair, Row
from pgbraid.embed.weights import Loaded, load_weights, read_config
from pgbraid.errors import ModelError, SearchError, SettingsError
from pgbraid.rerank import packed
from pgbraid.rerank.ordering import check_scores
from pgbraid.rerank.precision import PRECISIONS, PROBES, in_precision
from pgbraid.rerank.spec import Spec
from pgbraid.values import Overflow

OPTIONS = ("precision", "max_tokens")
_FOR_THE_TEXT = 0.25  # of the sequence must remain beside the question; with less, all texts look alike


def load(spec: Spec) -> CrossEncoder:
    """The cross-encoder at a path, `wheel:PACKAGE/folder` or hub name. Raises ModelError and SettingsError."""
    spec.only(OPTIONS)
    folder = locate(spec.model)
    labels = read_config(folder).num_labels
    if labels != 1:
        raise ModelError(
            f"{spec.model} has num_labels {labels}: it sorts texts into {labels} classes. A reranker has num_labels 1."
        )
    loaded = load_weights(folder, "AutoModelForSequenceClassification")
    precision = spec.one_of("precision", PRECISIONS, "auto")
    return CrossEncoder(Path(spec.model).name, loaded, Classifier(), precision, longest_of(spec, loaded))


def longest_of(spec: Spec, loaded: Loaded) -> int:
    """The budget of a pair in tokens. Raises SettingsError for one above what the model reads."""
    most, wanted = loaded.longest(), spec.whole("max_tokens")
    if wanted is not None and wanted > most:
        raise SettingsError(f"{spec.text!r}: the model reads {most} tokens, max_tokens is {wanted}")
    return wanted or most


class Classifier:
    """How a model of transformers' own for sequence classification is read: encoder, first token, its head."""

    name = ""

    def packed(self, model: Any, rows: Sequence[Row], tokens: ModelTokens) -> torch.Tensor:
        """Logits of shape (rows,) from one packed forward."""
        encoder = model.base_model
        first = packed.first_tokens(rows, tokens, encoder)[:, None]
        if encoder.config.model_type == "bert":
            first = encoder.pooler(first)
        logits: torch.Tensor = model.classifier(first)[:, 0]
        return logits

    def padded(self, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """Logits of shape (rows,) from one padded forward."""
        logits: torch.Tensor = model(**inputs).logits[:, 0]
        return logits


class CrossEncoder:
    """Raw logits of (question, text) pairs; safe to share between threads. Its order is its own: `blend` is 1.

    `drift` is how far its scores are from those in float32, as a part of their spread.
    """

    blend = 1.0
    gives_logits = True

    def __init__(self, name: str, loaded: Loaded, head: Any, precision: str, longest: int) -> None:
        self.longest = longest
        self._head = head
        self._what = f"The reranker {name!r}"
        self._tokens = ModelTokens(loaded.tokenizer, self._what)
        self._packed = packed.prepare(loaded.model)
        self._model, self.precision, self.drift = in_precision(loaded.model, precision, self._probed, self._what)
        parts = [f"cross-encoder:{name}@{loaded.digest[:16]}", head.name, self.precision, str(longest)]
        self.identity = "/".join(part for part in parts if part)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit a text, in their order; a text that does not fit beside the question is cut, never the question.

        Raises SearchError when the question leaves too little room for texts, ModelError for unusable numbers.
        """
        rows = [pair.rows[0] for pair in self.pairs(question, texts, "truncate")]
        found = [0.0] * len(rows)
        for batch in self.batches([len(row) for row in rows]):
            for index, logit in zip(batch, self.logits([rows[i] for i in batch]), strict=True):
                found[index] = logit
        return check_scores(found, len(texts), self._what)

    def pairs(self, question: str, texts: Sequence[str], overflow: Overflow) -> list[Pair]:
        """The pairs as the model reads them. Raises SearchError when the question leaves too little room for texts."""
        most = int(self.longest * (1 - _FOR_THE_TEXT)) - self._tokens.special_in_pair
        length = self._tokens.count(question)
        if length > most:
            raise SearchError(
                f"The question has {length} tokens; {self._what} can read {most} beside a text. "
                "Ask a shorter question, or use a profile that does not rerank."
            )
        return self._tokens.pairs(question, texts, self.longest, overflow)

    def batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Indexes of rows with these lengths, in batches for `logits`."""
        return packed.planned(lengths, self._packed)

    def logits(self, rows: Sequence[Row]) -> list[float]:
        """The logit of each row, from one forward."""
        with batches.ONE_FORWARD:
            return self._forward(self._model, rows)

    def _forward(self, model: Any, rows: Sequence[Row]) -> list[float]:
        with torch.inference_mode():
            if self._packed:
                found = self._head.packed(model, rows, self._tokens)
            else:
                found = self._head.padded(model, batches.padded(rows, self._tokens))
        return [float(logit) for logit in found.float().tolist()]

    def _probed(self, model: Any) -> list[float]:
        return [
            self._forward(model, [row])[0]
            for question, text in PROBES
            for row in self._tokens.pairs(question, [text], self.longest, "truncate")[0].rows
        ]
