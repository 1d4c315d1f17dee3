"""An embedder made of a function of the user's, given when the program runs; the catalogue knows only its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pgbraid.embed.plain import NO_LIMIT, PlainEmbedder, fingerprint
from pgbraid.errors import EmbeddingFailed, PgbraidError, SettingsError
from pgbraid.values import Embedder, Tokenizer

Function = Callable[[Sequence[str]], Any]


def from_callable(
    function: Function,
    dimensions: int,
    name: str,
    tokenizer: Tokenizer | None = None,
    query_function: Function | None = None,
) -> Embedder:
    """An embedder that asks `function` for an array of shape (len(texts), dimensions).

    `query_function` embeds questions, when they are embedded differently. The fingerprint is made of `name` and
    `dimensions`: give a new name ("ours-v2") whenever the function gives other vectors. The function is handed whole
    texts and cuts them itself if it must. Without a tokenizer, chunk sizes are counted in words.
    What the function raises becomes EmbeddingFailed.
    """
    if not name or dimensions < 1:
        raise SettingsError(
            f"An embedder needs a name and at least one dimension; the name is {name!r}, dimensions is {dimensions}."
        )
    what = f"The function {name!r}"
    documents = _guarded(function, what)
    return PlainEmbedder(
        what=what,
        dimensions=dimensions,
        max_tokens=NO_LIMIT,
        fingerprint=fingerprint("callable", name=name, dimensions=dimensions),
        tokenizer=tokenizer or _words(),
        documents=documents,
        queries=documents if query_function is None else _guarded(query_function, what),
    )


def _guarded(function: Function, what: str) -> Function:
    def ask(texts: Sequence[str]) -> Any:
        try:
            return function(texts)
        except PgbraidError:
            raise
        except Exception as error:
            raise EmbeddingFailed(f"{what} failed on {len(texts)} texts: {type(error).__name__}: {error}") from error

    return ask


def _words() -> Tokenizer:
    from pgbraid.split.tokens import WordTokenizer

    return WordTokenizer()
