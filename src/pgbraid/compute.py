"""Where work runs: model work on the caller's thread, or for async callers in one bounded executor, never on the loop.

Also to which process and which event loop belongs what is held between two calls.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
THREAD = "pgbraid-model"
Place = tuple[int, asyncio.AbstractEventLoop | None]
_executors: dict[int, ThreadPoolExecutor] = {}


def this_process() -> Place:
    """Where a caller without an event loop is."""
    return os.getpid(), None


def this_loop() -> Place:
    """Where a caller in an event loop is: what waits in one loop cannot be used in another."""
    return os.getpid(), asyncio.get_running_loop()


def is_left(place: Place) -> bool:
    """Whether nobody comes back there: it is in another process, since this one was forked, or its loop has ended."""
    pid, loop = place
    return pid != os.getpid() or (loop is not None and loop.is_closed())


def directly(work: Callable[..., T], *arguments: object, stop: threading.Event | None = None) -> T:
    """Do the work now, here."""
    return work(*arguments)


async def in_executor(work: Callable[..., T], *arguments: object, stop: threading.Event | None = None) -> T:
    """Do the work in the process's own model thread, and wait without blocking the event loop.

    One thread: the models use several cores by themselves, and two at once only slow each other down. When the caller
    is cancelled, `stop` is set, so that work that looks at it makes room for the next.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(_executor(), work, *arguments)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        raise


def beside_thread(work: Callable[..., T], *arguments: object) -> Future[T]:
    """Begin the work in the process's own model thread, and go on; `outcome_of` waits for it.

    What is begun in that thread itself, by an embedder that loads something, is done at once: nobody else could.
    """
    if not threading.current_thread().name.startswith(THREAD):
        return _executor().submit(work, *arguments)
    done: Future[T] = Future()
    try:
        done.set_result(work(*arguments))
    except Exception as error:
        done.set_exception(error)
    return done


def outcome_of(begun: Future[T]) -> T:
    """What work begun beside gives, or raises."""
    return begun.result()


def beside(work: Callable[..., T], *arguments: object) -> asyncio.Future[T]:
    """The same as `beside_thread` for callers with an event loop."""
    return asyncio.wrap_future(beside_thread(work, *arguments))


async def outcome(begun: asyncio.Future[T]) -> T:
    """The same as `outcome_of` for callers with an event loop."""
    return await begun


def _executor() -> ThreadPoolExecutor:
    pid = os.getpid()
    if pid not in _executors:
        _executors.clear()
        _executors[pid] = ThreadPoolExecutor(max_workers=1, thread_name_prefix=THREAD)
    return _executors[pid]
