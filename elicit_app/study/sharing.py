"""Work on items as they come, shared out among threads, while the next items are being made."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")


def shared_out(items: Iterable[T], states: Sequence[S], work: Callable[[S, T], R]) -> Iterator[R]:
    """Have every item worked on in one of several threads, and yield what comes of it.

    Parameters
    ----------
    items : iterable
        Made in the calling thread, a few before they are worked on.
    states : sequence
        One a thread: what the work changes. Which item meets which state is left to chance.
    work : callable
        Takes a state and an item, returns what is yielded.

    Yields
    ------
    object
        What came of the items, in their order. What making or working on an item raises is raised in its place.
    """
    free: SimpleQueue[S] = SimpleQueue()
    for state in states:
        free.put(state)

    def take(item: T) -> R:
        state = free.get()
        try:
            return work(state, item)
        finally:
            free.put(state)

    taken: deque[Future[R]] = deque()
    with ThreadPoolExecutor(len(states), thread_name_prefix="shared-out") as threads:
        for item in items:
            taken.append(threads.submit(take, item))
            if len(taken) > len(states):
                yield taken.popleft().result()
        while taken:
            yield taken.popleft().result()
