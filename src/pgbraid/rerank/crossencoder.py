"""A cross-encoder: a transformer that reads question and text together and gives one number, on the CPU, in float32.

The number is the raw logit, neither squashed nor scaled. Imported only when such a model is wanted: it loads torch.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from pgbraid.embed import batches
from pgbraid.embed.files import locate
from pgbraid.embed.plain import report_cut
from pgbraid.embed.tokens import ModelTokens
from pgbraid.embed.weights import Loaded, load_weights, read_config
from pgbraid.errors import ModelError, SearchError
from pgbraid.rerank.ordering import check_scores

_FOR_THE_TEXT = 0.25  # of the sequence must remain beside the question; with less, all texts look alike


def load(model: str) -> CrossEncoder:
    """The cross-encoder at a path, `wheel:PACKAGE/folder` or hub name. Raises ModelError."""
    folder = locate(model)
    labels = read_config(folder).num_labels
    if labels != 1:
        raise ModelError(
            f"{model} has num_labels {labels}: it sorts texts into {labels} classes. A reranker has num_labels 1."
        )
    return CrossEncoder(Path(model).name, load_weights(folder, "AutoModelForSequenceClassification"))


class CrossEncoder:
    """Raw logits of (question, text) pairs; safe to share between threads.

    Text that does not fit beside the question is cut, never the question; how often is counted in `truncated` and
    logged. Its order is its own: `blend` is 1.
    """

    def __init__(self, name: str, loaded: Loaded) -> None:
        self.identity = f"cross-encoder:{name}@{loaded.digest[:16]}"
        self.blend = 1.0
        self.truncated = 0
        self._what = f"The reranker {self.identity!r}"
        self._model: Any = loaded.model
        self._longest = loaded.longest()
        self._tokens = ModelTokens(loaded.tokenizer, self._what)
        self._counting = threading.Lock()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit a text, in their order; equal texts are read once.

        Raises SearchError when the question leaves too little room for texts, ModelError for unusable numbers.
        """
        self._fits(question)
        distinct = list(dict.fromkeys(texts))
        logits = dict(zip(distinct, self._logits(question, distinct), strict=True))
        return check_scores([logits[text] for text in texts], len(texts), self._what)

    def _fits(self, question: str) -> None:
        most = int(self._longest * (1 - _FOR_THE_TEXT)) - self._tokens.special_in_pair
        length = self._tokens.count(question)
        if length > most:
            raise SearchError(
                f"The question has {length} tokens; {self._what} can read {most} beside a text. "
                "Ask a shorter question, or use a profile that does not rerank."
            )

    def _logits(self, question: str, texts: Sequence[str]) -> list[float]:
        rows = self._tokens.pairs(question, texts, self._longest)
        longer = sum(row.cut for row in rows)
        with self._counting:
            self.truncated += longer
        report_cut(longer, len(rows), self._longest, self._what)
        logits = [0.0] * len(rows)

        def keep(indexes: list[int], output: Any, _mask: torch.Tensor) -> None:
            for index, logit in zip(indexes, output.logits[:, 0].tolist(), strict=True):
                logits[index] = logit

        batches.run(rows, self._tokens, self._model, keep)
        return logits
