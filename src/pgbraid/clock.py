"""Milliseconds by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Adds up what each stage took; a stage that runs twice is counted twice."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._start = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + (time.perf_counter() - start) * 1000

    def finish(self) -> dict[str, float]:
        """All stages and the total, rounded to a microsecond."""
        total = (time.perf_counter() - self._start) * 1000
        return {name: round(ms, 3) for name, ms in {**self.milliseconds, "total": total}.items()}
