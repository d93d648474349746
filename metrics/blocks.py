"""Working through many rows in blocks that stay in the processor's cache, on one or several threads.

Blocks are cut by the shape of the data alone and their results come back in order, so that the number of threads
never changes a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from metrics.probabilities import Probabilities

T = TypeVar("T")

# About 640 KiB of float64: what a core's second-level cache holds beside the working arrays.
_BLOCK_CELLS = 81_920
# Below this many cells a second thread costs more than it brings.
_THREADED_CELLS = 2_000_000
# Each thread holds working arrays of its own: with two, no measure needs more than 10 MB.
_MOST_THREADS = 2


class Workspace:
    """Arrays that one thread uses again for every block."""

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array to write to, with whatever it last held.

        Parameters
        ----------
        name : str
            One array per name: the same name gives the same memory.
        shape : tuple of int
            Shape.
        dtype : dtype
            Type.

        Returns
        -------
        ndarray
            Contiguous, in row-major order.
        """
        size = int(np.prod(shape))
        buffer = self._buffers.get(name)
        if buffer is None or buffer.size < size or buffer.dtype != dtype:
            buffer = self._buffers[name] = np.empty(size, dtype=dtype)
        return buffer[:size].reshape(shape)

    def counting(self, length: int) -> NDArray[np.intp]:
        """Return 0, 1, ..., length-1, not to be written to."""
        numbers = self._buffers.get("counting")
        if numbers is None or len(numbers) < length:
            numbers = self._buffers["counting"] = np.arange(length)
        return numbers[:length]


@dataclass(eq=False)
class Block:
    """Some rows of predicted probabilities with their true classes; what several measures need is worked out once.

    Parameters
    ----------
    true : ndarray of intp, shape (b,)
        Column of the true class.
    rows : ndarray of shape (b, k)
        Probabilities, checked.
    weight : ndarray of float64, shape (b,), or None
        Weights of the cases.
    space : Workspace
        Memory of the thread.
    """

    true: NDArray[np.intp]
    rows: Probabilities
    weight: NDArray[np.float64] | None
    space: Workspace

    @cached_property
    def columns(self) -> NDArray[Any]:
        """Return the probabilities by class, shape (k, b), contiguous."""
        columns = self.space.array("columns", self.rows.shape[::-1], self.rows.dtype)
        np.copyto(columns, self.rows.T)
        return columns

    @cached_property
    def true_cells(self) -> NDArray[np.intp]:
        """Return where the true class of each row lies in an array of shape (k, b) read row by row."""
        cells = self.space.array("true cells", self.true.shape, np.intp)
        np.multiply(self.true, len(self.true), out=cells)
        cells += self.space.counting(len(self.true))
        return cells

    @cached_property
    def true_probability(self) -> NDArray[Any]:
        """Return the probability of the true class, shape (b,)."""
        if "columns" in self.__dict__:
            return self.columns.reshape(-1).take(self.true_cells)
        return self.rows[self.space.counting(len(self.true)), self.true]

    @cached_property
    def most_probable(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Return the most probable class (of equal ones the first) and its probability, each of shape (b,)."""
        return first_greatest(self.columns)

    def total(self, values: NDArray[Any]) -> float:
        """Return the weighted sum of a value per row."""
        return float(values.sum(dtype=np.float64)) if self.weight is None else float(self.weight @ values)

    @property
    def total_weight(self) -> float:
        """Return the sum of the weights: the number of rows where there are none."""
        return float(len(self.true)) if self.weight is None else float(self.weight.sum())


def first_greatest(values: NDArray[Any], margin: float = 0.0) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return, per column, the first row whose value is greatest, and the greatest value.

    Parameters
    ----------
    values : ndarray of shape (k, b)
        Contiguous.
    margin : float
        A later row must be greater by more than this.

    Returns
    -------
    tuple of ndarray of shape (b,)
        Indices of rows, and values.
    """
    k, b = values.shape
    # In the narrowest type: the maximum of small integers is far quicker than writing where a mask is set.
    first = np.zeros(b, dtype=np.min_scalar_type(k))
    greatest, greater, candidate = values[0].copy(), np.empty(b, dtype=bool), np.empty_like(first)
    for j in range(1, k):
        np.greater(values[j], greatest + margin if margin else greatest, out=greater)
        np.multiply(greater.view(np.uint8), first.dtype.type(j), out=candidate)
        np.maximum(first, candidate, out=first)
        np.maximum(greatest, values[j], out=greatest)
    return first.astype(np.intp), greatest


def block_bounds(n_rows: int, n_columns: int) -> list[tuple[int, int]]:
    """Return where each block of rows begins and where the next one does.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the data.

    Returns
    -------
    list of (int, int)
        In order, without gaps.
    """
    step = min(max(_BLOCK_CELLS // n_columns, 64), 16_384)
    return [(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]


def for_blocks(n_rows: int, n_columns: int, work: Callable[[Workspace, int, int], T]) -> list[T]:
    """Do some work on every block of rows.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the data.
    work : callable
        Takes the thread's workspace and the bounds of a block; must change nothing else.

    Returns
    -------
    list
        What `work` returned, in the order of the blocks.

    Raises
    ------
    Exception
        What `work` raised on the first block on which it did.
    """
    bounds = block_bounds(n_rows, n_columns)
    n_threads = _n_threads(n_rows * n_columns)
    if n_threads == 1:
        space = Workspace()
        return [work(space, *bound) for bound in bounds]

    def every_nth(start: int) -> tuple[list[T], Exception | None]:
        space, done = Workspace(), []
        try:
            for bound in bounds[start::n_threads]:
                done.append(work(space, *bound))  # noqa: PERF401  what was done before an error counts its block
        except Exception as error:
            return done, error
        return done, None

    with ThreadPoolExecutor(n_threads) as pool:
        parts = list(pool.map(every_nth, range(n_threads)))
    failed = [(len(done) * n_threads + i, error) for i, (done, error) in enumerate(parts) if error is not None]
    if failed:
        raise min(failed, key=lambda fault: fault[0])[1]
    return [parts[i % n_threads][0][i // n_threads] for i in range(len(bounds))]


def _n_threads(n_cells: int) -> int:
    """Return how many threads to use; `OMP_NUM_THREADS` limits them, as it does those of linear algebra."""
    if n_cells < _THREADED_CELLS:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(int(wanted) if wanted.isdigit() else processors, processors, _MOST_THREADS))
