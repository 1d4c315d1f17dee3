"""Doors behind a search: what a language model reads of its result. The façade inherits them."""

from __future__ import annotations

from typing import Any, Protocol

from pgbraid.context import Context, Count, estimate, pack
from pgbraid.values import SearchResult


class _Searching(Protocol):
    async def search(self, question: str, **arguments: Any) -> SearchResult: ...


class Reading:
    """What a braid does with what it found."""

    async def context(
        self: _Searching,
        question: str,
        *,
        tokens: int = 2000,
        count: Count | None = None,
        whole: bool = False,
        **arguments: Any,
    ) -> Context:
        """What a model with room for `tokens` reads to answer a question: fenced, nothing twice, with marks to cite.

        `count` is how the model counts a text, by default an estimate; `whole` takes whole documents instead of the
        parts that matched. The rest is what `search` takes. `pgbraid.context.inject` puts it into a chat.
        """
        return pack(await self.search(question, **arguments), tokens, count=count or estimate, whole=whole)
