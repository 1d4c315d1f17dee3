"""Chooses what a model reads of the passages: the best part of each, then the next best, while there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pgbraid.context.budget import Count, estimate
from pgbraid.context.fence import block, fence_for, framed, name_of
from pgbraid.context.pieces import Context, Source, Span, joined, share_known, shingles, stretches
from pgbraid.errors import SettingsError
from pgbraid.split.boundaries import Rank, cuts
from pgbraid.values import Passage, SearchResult

_REPEATED = 0.9  # share of a stretch's words that another document has said already


def pack(result: SearchResult, tokens: int = 2000, *, count: Count = estimate, whole: bool = False) -> Context:
    """What a model with room for `tokens` reads of a result.

    `count` is how the model counts a text, by default an estimate; with `len` the budget is in characters. `whole`
    takes whole documents instead of the parts that matched. What does not fit is cut after a sentence. Raises
    SettingsError for a budget that is no whole number above 0.
    """
    if type(tokens) is not int or tokens < 1:
        raise SettingsError(f"A context has a budget of a whole number of tokens above 0, not {tokens!r}")
    passages = result.passages
    fence = fence_for([text for p in passages for text in (p.title or p.external_id, p.text)])
    packing = _Packing(passages, fence, tokens, count, count(framed(fence, "")))
    for place, span in _in_turn([stretches(p, whole) for p in passages]):
        packing.offer(place, span)
    return packing.context(result)


def _in_turn(spans: Sequence[Sequence[Span]]) -> Iterator[tuple[int, Span]]:
    """The best stretch of each passage, then the second best of each, and so on."""
    for turn in range(max(map(len, spans), default=0)):
        for place, of_one in enumerate(spans):
            if turn < len(of_one):
                yield place, of_one[turn]


@dataclass(slots=True)
class _Packing:
    """What was taken so far, by the place of its passage, and what it costs."""

    passages: Sequence[Passage]
    fence: str
    budget: int
    count: Count
    rules: int  # what the words around the sources cost
    taken: dict[int, list[Span]] = field(default_factory=dict)
    costs: dict[int, int] = field(default_factory=dict)
    order: list[tuple[int, list[Span]]] = field(default_factory=list)  # what each step replaced, to take it back
    duplicates: int = 0
    left_out: int = 0
    shortened: int = 0
    full: bool = False

    def offer(self, place: int, span: Span) -> None:
        """Take a stretch if it says something new and there is room, or as many of its sentences as fit."""
        text = self.passages[place].text
        before = self.taken.get(place, [])
        if any(start <= span[0] and span[1] <= end for start, end in before):
            return
        if self._repeats(place, text[span[0] : span[1]]):
            self.duplicates += 1
        elif self.full:
            self.left_out += 1
        elif not self._take(place, before, span):
            self.full = True
            if self._take_part(place, before, span):
                self.shortened += 1
            else:
                self.left_out += 1

    def _repeats(self, place: int, text: str) -> bool:
        known = [
            shingles(self.passages[other].text[start:end])
            for other, spans in self.taken.items()
            if other != place
            for start, end in spans
        ]
        return bool(known) and share_known(shingles(text), known) >= _REPEATED

    def _take(self, place: int, before: list[Span], span: Span) -> bool:
        passage = self.passages[place]
        after = joined(passage.text, [*before, span])
        cost = sum(self.count(self._block(passage, 99, part) + "\n\n") for part in after)
        if self.rules + sum(self.costs.values()) - self.costs.get(place, 0) + cost > self.budget:
            return False
        self.order.append((place, before))
        self.taken[place], self.costs[place] = after, cost
        return True

    def _take_part(self, place: int, before: list[Span], span: Span) -> bool:
        """The most sentences that fit; of a first stretch that is one long sentence, the most words."""
        text = self.passages[place].text[span[0] : span[1]]
        for least in (Rank.SENTENCE,) if self.taken else (Rank.SENTENCE, Rank.WORD):
            low, ends, steps = 0, cuts(text, least), len(self.order)
            high = len(ends)
            while low < high:  # the longest part that fits
                middle = (low + high) // 2
                end = span[0] + len(text[: ends[middle]].rstrip())
                if self._take(place, before, (span[0], end)):
                    low = middle + 1
                else:
                    high = middle
            if low:
                del self.order[steps + 1 :]
                return True
        return False

    def _block(self, passage: Passage, mark: int, span: Span) -> str:
        return block(self.fence, mark, name_of(passage.title, passage.external_id), passage.text[span[0] : span[1]])

    def context(self, result: SearchResult) -> Context:
        """What was taken, in the order of the passages.

        The last taken goes when the whole costs more than its parts.
        """
        while True:
            sources = tuple(self._sources())
            text = "\n\n".join(block(self.fence, s.mark, name_of(s.title, s.external_id), s.text) for s in sources)
            tokens = self.count(framed(self.fence, text)) if text else 0
            if tokens <= self.budget:
                break
            place, before = self.order.pop()
            self.taken[place] = before
            self.left_out += 1
            self.shortened = 0  # only what came last was cut
        counts = (self.duplicates, self.left_out, self.shortened)
        return Context(result, text, sources, self.fence, tokens, *counts)

    def _sources(self) -> Iterator[Source]:
        every = ((place, span) for place in sorted(self.taken) for span in self.taken[place])
        for mark, (place, (start, end)) in enumerate(every, 1):
            p = self.passages[place]
            yield Source(mark, p.collection, p.external_id, p.title, start, end, p.text[start:end])
