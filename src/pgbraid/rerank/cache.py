"""Scores that were computed before, by what decides them: which reranker, which question, which text, cut or not."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b

SIZE = 100_000
Key = bytes


class ScoreCache:
    """The scores of a text's windows, of the pairs asked last; safe to share between threads. `size` 0 keeps none."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, tuple[float, ...]] = OrderedDict()

    def get(self, keys: Iterable[Key]) -> list[tuple[float, ...] | None]:
        """What is known under each key."""
        with self._lock:
            found = [self._kept.get(key) for key in keys]
            for key, scores in zip(keys, found, strict=True):
                if scores is not None:
                    self._kept.move_to_end(key)
        return found

    def keep(self, scores: Iterable[tuple[Key, tuple[float, ...]]]) -> None:
        """Keep scores; those asked longest ago go when there are too many."""
        with self._lock:
            for key, values in scores:
                self._kept[key] = values
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
