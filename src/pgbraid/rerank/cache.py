"""Scores that were computed before, by what decides them: which reranker, which question, which text, cut or not."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

SIZE = 100_000
Key = bytes


@dataclass(frozen=True, slots=True)
class Known:
    """The scores of a text, one for each window. `over` is the pair's tokens where they were too many, else 0."""

    scores: tuple[float, ...]
    over: int = 0


class ScoreCache:
    """The scores of the pairs asked last; safe to share between threads. `size` 0 keeps none."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Known] = OrderedDict()

    def get(self, keys: Sequence[Key]) -> list[Known | None]:
        """What is known under each key."""
        with self._lock:
            found = [self._kept.get(key) for key in keys]
            for key, known in zip(keys, found, strict=True):
                if known is not None:
                    self._kept.move_to_end(key)
        return found

    def missing(self, keys: Collection[Key]) -> list[Key]:
        """Those keys under which nothing is known."""
        with self._lock:
            return [key for key in keys if key not in self._kept]

    def keep(self, scores: Iterable[tuple[Key, Known]]) -> None:
        """Keep scores; those asked longest ago go when there are too many."""
        with self._lock:
            for key, known in scores:
                self._kept[key] = known
                self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)


def key_of(identity: str, overflow: str, question: str, text: str) -> Key:
    """16 bytes; every part is framed by its length."""
    digest = blake2b(digest_size=16)
    for part in (identity, overflow, question, text):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.digest()
