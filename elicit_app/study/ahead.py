"""Reading ahead: the next items are made in a thread of their own while the last one is used."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_DEPTH = 2


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the same items in the same order, at most two of them made before they are asked for.

    Parameters
    ----------
    items : iterator
        Run in another thread; what it raises is raised here, after the items before it.
    """
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(_DEPTH)
    wanted = threading.Event()
    wanted.set()

    def offer(item: T | None, error: BaseException | None) -> None:
        offered = False
        while wanted.is_set() and not offered:
            with suppress(queue.Full):
                ready.put((item, error), timeout=0.1)
                offered = True

    def work() -> None:
        try:
            for item in items:
                offer(item, None)
                if not wanted.is_set():
                    return
            offer(None, StopIteration())
        except BaseException as error:
            offer(None, error)

    thread = threading.Thread(target=work, name="read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            assert item is not None
            yield item
    finally:
        wanted.clear()
        thread.join()
