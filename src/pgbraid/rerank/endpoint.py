"""A reranker behind HTTP: the `/rerank` that Cohere, Jina and vLLM share, or that of text-embeddings-inference.

    shape=cohere  {"model", "query", "documents"}  ->  {"results": [{"index", "relevance_score"}]}
    shape=tei     {"query", "texts", "raw_scores"} ->  [{"index", "score"}]

The key is read from the environment at each call and kept nowhere. Nothing of an answer is believed: status, JSON,
count, indexes and numbers are checked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pgbraid.errors import ModelError, SettingsError, TextRefused
from pgbraid.rerank.ordering import check_scores
from pgbraid.rerank.reading import Limit
from pgbraid.rerank.spec import Spec

OPTIONS = ("shape", "model", "api_key_env", "timeout_ms", "retries", "max_chars")
SHAPES = ("cohere", "tei")
MOST_BYTES = 4 * 1024 * 1024  # of an answer
_BACKOFF = 0.25  # seconds, doubled at every try
_REFUSED = (413, 422)  # too large, cannot be read: what servers answer to a text that is too long
_SHOWN = 300  # characters of an answer in an error


def load(spec: Spec) -> Endpoint:
    """The reranker behind a URL; nothing is asked of it yet. Raises SettingsError."""
    spec.only(OPTIONS)
    parts = urlsplit(spec.model)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise SettingsError(f"{spec.text!r}: an endpoint is http(s)://host/path without a password")
    retries = spec.options.get("retries", "2")
    if not retries.isascii() or not retries.isdigit():
        raise SettingsError(f"{spec.text!r}: retries is a whole number, not {retries!r}")
    most = spec.whole("max_chars")
    return Endpoint(
        url=spec.model,
        shape=spec.one_of("shape", SHAPES, "cohere"),
        model=spec.options.get("model", ""),
        api_key_env=spec.options.get("api_key_env"),
        timeout=(spec.whole("timeout_ms") or 10_000) / 1000,
        retries=int(retries),
        limit=None if most is None else Limit(most),
    )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Scores that a server gives. `timeout` is seconds for one try, `retries` how often after the first."""

    url: str
    shape: str
    model: str
    api_key_env: str | None
    timeout: float
    retries: int
    limit: Limit | None = None
    blend: float = 1.0

    @property
    def identity(self) -> str:
        """Which server and model; a server that changes a model under its name is not noticed."""
        return f"endpoint:{self.url}#{self.shape},{self.model}"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in their order.

        Raises TextRefused when the server does not take the texts as they are, and ModelError when it fails or its
        answer is unusable.
        """
        if not texts:
            return []
        return self._read(self._answer(self._body(question, texts)), len(texts))

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        if self.shape == "tei":
            return {"query": question, "texts": list(texts), "raw_scores": True, "truncate": False}
        named = {"model": self.model} if self.model else {}
        return {**named, "query": question, "documents": list(texts), "top_n": len(texts)}

    def _answer(self, body: dict[str, Any]) -> Any:
        """The first answer that is neither a failure on the way nor one that asks to come again."""
        import httpx

        problem = ""
        with httpx.Client(timeout=self.timeout, headers=self._headers()) as client:
            for attempt in range(self.retries + 1):
                try:
                    status, content = self._asked(client, body)
                except httpx.RequestError as error:
                    problem = f"{type(error).__name__}: {error}"
                else:
                    if status == 200:
                        return content
                    problem = f"status {status}, {_shown(content)}"
                    if status in _REFUSED:
                        raise TextRefused(f"The rerank server at {self.url} does not take a text: {problem}")
                    if status != 429 and status < 500:
                        break
                if attempt < self.retries:
                    time.sleep(_BACKOFF * 2**attempt)
        raise ModelError(f"The rerank server at {self.url} failed: {problem}")

    def _asked(self, client: Any, body: dict[str, Any]) -> tuple[int, bytes]:
        content = b""
        with client.stream("POST", self.url, json=body) as answer:
            for block in answer.iter_bytes():
                content += block
                if len(content) > MOST_BYTES:
                    raise ModelError(f"The rerank server at {self.url} sent more than {MOST_BYTES} bytes")
        return answer.status_code, content

    def _headers(self) -> dict[str, str]:
        if self.api_key_env is None:
            return {}
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise SettingsError(f"The rerank server at {self.url} needs a key: set the variable {self.api_key_env}.")
        return {"Authorization": f"Bearer {key}"}

    def _read(self, content: bytes, count: int) -> list[float]:
        import json

        what = f"The rerank server at {self.url}"
        name = "score" if self.shape == "tei" else "relevance_score"
        try:
            told = json.loads(content)
            rows = [(row["index"], row[name]) for row in (told if self.shape == "tei" else told["results"])]
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{what} gave no list of scores: {_shown(content)}") from error
        if sorted(index for index, _ in rows if type(index) is int) != list(range(count)) or len(rows) != count:
            raise ModelError(f"{what} gave {len(rows)} scores for {count} texts, or wrong indexes: {_shown(content)}")
        return check_scores([value for _, value in sorted(rows, key=lambda row: row[0])], count, what)


def _shown(content: bytes) -> str:
    return repr(" ".join(content.decode("utf-8", "replace").split())[:_SHOWN])
