"""Where model work runs:

on the caller's thread, or for async callers in one bounded executor, never on the event loop.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_executors: dict[int, ThreadPoolExecutor] = {}


def directly(work: Callable[..., T], *arguments: object) -> T:
    """Do the work now, here."""
    return work(*arguments)


async def in_executor(work: Callable[..., T], *arguments: object) -> T:
    """Do the work in the process's own model thread, and wait without blocking the event loop.

    One thread: the models use several cores by themselves, and two at once only slow each other down.
    """
    return await asyncio.get_running_loop().run_in_executor(_executor(), work, *arguments)


def _executor() -> ThreadPoolExecutor:
    pid = os.getpid()
    if pid not in _executors:
        _executors.clear()
        _executors[pid] = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pgbraid-model")
    return _executors[pid]
