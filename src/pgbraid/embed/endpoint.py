"""An embedder behind HTTP: any server that answers `POST {base_url}/embeddings` as OpenAI does.

Asks in batches, tries again when the server is busy or cannot be reached, and believes nothing: status, JSON, count,
order and dimensions of an answer are checked. The key is read from the environment at each call and kept nowhere.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from pgbraid.embed.plain import PlainEmbedder, fingerprint
from pgbraid.embed.vectors import as_vectors
from pgbraid.errors import EmbeddingFailed, SettingsError
from pgbraid.values import EmbedderRecord, Vectors

OPTIONS = frozenset({"base_url", "api_key_env", "dimensions", "timeout", "retries", "backoff", "batch"})
MAX_TOKENS = 512  # words; the server does not tell its limit, so a larger one is declared with the embedder
_LONGEST_WAIT = 30.0  # seconds, whatever the server asks for
_SHOWN = 300  # characters of an answer in an error


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How a server is asked. `timeout` and `backoff` are seconds, `retries` how often after the first try.

    `sent_dimensions` goes into the request when it is not None; some servers shorten their vectors to it.
    """

    url: str
    model: str
    dimensions: int
    api_key_env: str | None = None
    sent_dimensions: int | None = None
    timeout: float = 30.0
    retries: int = 3
    backoff: float = 0.5
    batch: int = 64

    @property
    def what(self) -> str:
        """For messages."""
        return f"The embedding server at {self.url} (model {self.model})"

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions). Raises EmbeddingFailed."""
        import httpx

        headers = self._headers()
        with httpx.Client(timeout=self.timeout, headers=headers) as client:
            parts = [self._some(client, texts[at : at + self.batch]) for at in range(0, len(texts), self.batch)]
        return np.concatenate(parts)

    def _headers(self) -> dict[str, str]:
        if self.api_key_env is None:
            return {}
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise SettingsError(f"{self.what} needs a key: set the environment variable {self.api_key_env}.")
        return {"Authorization": f"Bearer {key}"}

    def _some(self, client: Any, texts: Sequence[str]) -> Vectors:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.sent_dimensions is not None:
            body["dimensions"] = self.sent_dimensions
        return self._read(self._answer(client, body), len(texts))

    def _answer(self, client: Any, body: Mapping[str, Any]) -> Any:
        """The first answer that is neither a failure on the way nor one that asks to come again."""
        import httpx

        problem = ""
        for attempt in range(self.retries + 1):
            wait = self.backoff * 2**attempt
            try:
                answer = client.post(self.url, json=body)
            except httpx.RequestError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if answer.status_code != 429 and answer.status_code < 500:
                    return answer
                problem = _told(answer)
                wait = max(wait, _asked_to_wait(answer))
            if attempt < self.retries:
                time.sleep(min(wait, _LONGEST_WAIT))
        raise EmbeddingFailed(f"{self.what} failed {self.retries + 1} times, last: {problem}")

    def _read(self, answer: Any, count: int) -> Vectors:
        if answer.status_code != 200:
            raise EmbeddingFailed(f"{self.what} refused: {_told(answer)}")
        try:
            data = answer.json()["data"]
            rows = {int(row["index"]): row["embedding"] for row in data}
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingFailed(f"{self.what} gave no list of embeddings: {_told(answer)}") from error
        if len(data) != count or sorted(rows) != list(range(count)):
            raise EmbeddingFailed(
                f"{self.what} gave {len(data)} embeddings with the indexes {sorted(rows)[:20]} for {count} texts."
            )
        return as_vectors(list(_aligned(rows)), count, self.dimensions, self.what)


def build(record: EmbedderRecord) -> PlainEmbedder:
    """The embedder behind a server; nothing is asked of it yet. Raises SettingsError for unusable options.

    Its fingerprint is made of host, model, dimensions, prefixes and limit, not of vectors: an embedder can be declared
    without network. A server that changes a model under its name is not noticed.
    """
    from pgbraid.split.tokens import WordTokenizer

    server = _endpoint(record)
    max_tokens = record.max_tokens or MAX_TOKENS
    prefixes = (record.query_prefix, record.document_prefix)
    return PlainEmbedder(
        what=server.what,
        dimensions=server.dimensions,
        max_tokens=max_tokens,
        fingerprint=fingerprint(
            "openai",
            host=urlsplit(server.url).netloc.rpartition("@")[2],
            model=record.model,
            dimensions=server.dimensions,
            prefixes=prefixes,
            max_tokens=max_tokens,
        ),
        tokenizer=WordTokenizer(),
        documents=server.vectors,
        queries=server.vectors,
        query_prefix=record.query_prefix,
        document_prefix=record.document_prefix,
    )


def _endpoint(record: EmbedderRecord) -> Endpoint:
    options = record.options
    base = str(options.get("base_url", "https://api.openai.com/v1")).rstrip("/")
    if urlsplit(base).scheme not in {"http", "https"} or not urlsplit(base).hostname or "@" in urlsplit(base).netloc:
        raise SettingsError(f"base_url of the embedder {record.name!r} must be http(s)://host/path without a password.")
    variable = options.get("api_key_env")
    if variable is not None and (not isinstance(variable, str) or not variable):
        raise SettingsError(f"api_key_env of the embedder {record.name!r} must name an environment variable.")
    sent = _number(record, "dimensions", 0, least=0)
    if record.dimensions and sent and sent != record.dimensions:
        raise SettingsError(f"The embedder {record.name!r} has {record.dimensions} dimensions but asks for {sent}.")
    if not (record.dimensions or sent):
        raise SettingsError(
            f"Say how many dimensions {record.model!r} has: its server is not asked when it is declared."
        )
    return Endpoint(
        url=f"{base}/embeddings",
        model=record.model,
        dimensions=int(record.dimensions or sent),
        api_key_env=variable,
        sent_dimensions=int(sent) or None,
        timeout=_number(record, "timeout", 30.0, least=0.001),
        retries=int(_number(record, "retries", 3, least=0)),
        backoff=_number(record, "backoff", 0.5, least=0),
        batch=int(_number(record, "batch", 64, least=1)),
    )


def _number(record: EmbedderRecord, name: str, default: float, least: float) -> float:
    value = record.options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
        raise SettingsError(
            f"The option {name} of the embedder {record.name!r} is {value!r}, not a number from {least}."
        )
    return value


def _aligned(rows: Mapping[int, Any]) -> Iterator[Any]:
    return (rows[index] for index in sorted(rows))


def _told(answer: Any) -> str:
    """Status and the head of the body, on one line."""
    return f"status {answer.status_code}, {' '.join(answer.text.split())[:_SHOWN]!r}"


def _asked_to_wait(answer: Any) -> float:
    """Seconds of Retry-After; 0 when it is missing or a date."""
    try:
        return max(float(answer.headers.get("retry-after", 0)), 0.0)
    except ValueError:
        return 0.0
