"""Working through many rows in blocks that stay in the processor's cache, on one or several threads.

Blocks are cut by the shape of the data alone and their results come back in order, so that the number of threads
never changes a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from metrics.inputs.probabilities import Probabilities

T = TypeVar("T")

# About 1.3 MB of float64: small enough for the caches, large enough that calls of numpy cost little beside their work.
# No powers of two: columns that lie a power of two apart drive each other out of the cache.
_BLOCK_CELLS = 160_000
# A number per row takes less than 128 KiB, from where on C libraries fetch memory anew for every array.
_MOST_ROWS = 16_000
# Rows are turned into columns in smaller pieces, because each is read once for every column.
_COPIED_CELLS = 40_000
_RUNS = 8
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
        """Return the probabilities by class, shape (k, b), those of one class next to each other in memory."""
        by_class: NDArray[Any] = self.rows.T
        if by_class.strides[1] == by_class.itemsize:
            return by_class  # column after column already, as pandas and polars keep them: not to be written to
        columns: NDArray[Any] = self.space.array("columns", self.rows.shape[::-1], self.rows.dtype)
        step = max(_COPIED_CELLS // len(columns), 1)
        for start in range(0, len(self.rows), step):
            np.copyto(columns[:, start : start + step], by_class[:, start : start + step])
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
        if "columns" in self.__dict__ and self.columns.flags.c_contiguous:
            return self.of_true_class(self.columns)
        numbers = self.space.counting(len(self.true))
        if not self.rows.flags.c_contiguous:
            return self.rows[numbers, self.true]
        entries: NDArray[Any] = self.rows.reshape(-1).take(numbers * self.rows.shape[1] + self.true, mode="clip")
        return entries

    def of_true_class(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the entries of the true classes, shape (b,), of a contiguous array of shape (k, b)."""
        entries: NDArray[Any] = values.reshape(-1).take(self.true_cells, mode="clip")  # in range: spares the check
        return entries

    @cached_property
    def most_probable(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Return the most probable class (of equal ones the first) and its probability, each of shape (b,)."""
        return first_greatest(self.columns)

    def total(self, values: NDArray[Any]) -> float:
        """Return the weighted sum of a value per row."""
        if self.weight is None:
            return float(np.count_nonzero(values) if values.dtype == bool else values.sum(dtype=np.float64))
        return float(
            np.einsum("i,i->", self.weight, values)
        )  # not @, which may start threads: see `metrics.batches.products`

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


def rows_per_block(n_columns: int) -> int:
    """Return how many rows of k probabilities make a block.

    Parameters
    ----------
    n_columns : int
        k.

    Returns
    -------
    int
        What fits the cache, but at least k: matrices of k x k are then no longer to add up than the block is to read.
    """
    return max(min(_BLOCK_CELLS // n_columns, _MOST_ROWS), n_columns)


def for_blocks(
    n_rows: int, step: int, work: Callable[[Workspace, int, int], T], join: Callable[[T, T], T], n_columns: int = 1
) -> T:
    """Do some work on every block of rows and join what comes of it, in order.

    Parameters
    ----------
    n_rows : int
        How many rows there are, at least one.
    step : int
        Rows of a block.
    work : callable
        Takes the thread's workspace and where the block begins and ends; changes nothing but its own rows.
    join : callable
        Takes what came of the blocks so far, which it may change, and of the next ones.
    n_columns : int
        Columns of the data, from which the number of threads follows; 0 for one thread.

    Returns
    -------
    object
        The joined results.

    Raises
    ------
    Exception
        What `work` raised on the first block on which it did.
    """
    bounds = [(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]
    # Neighbouring blocks are joined in runs, whose number does not depend on the number of threads.
    length = -(-len(bounds) // _RUNS)
    runs = [bounds[i : i + length] for i in range(0, len(bounds), length)]
    n_threads = min(_n_threads(n_rows * n_columns), len(runs))

    def every_nth(start: int) -> tuple[list[T], Exception | None]:
        space, done = Workspace(), []
        try:
            for run in runs[start::n_threads]:
                done.append(reduce(join, (work(space, *bound) for bound in run)))  # noqa: PERF401  see `done` below
        except Exception as error:
            return done, error
        return done, None

    if n_threads == 1:
        parts = [every_nth(0)]
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            parts = list(pool.map(every_nth, range(n_threads)))
    failed = [(len(done) * n_threads + i, error) for i, (done, error) in enumerate(parts) if error is not None]
    if failed:
        raise min(failed, key=lambda fault: fault[0])[1]
    return reduce(join, (parts[i % n_threads][0][i // n_threads] for i in range(len(runs))))


def nothing(_so_far: None, _next: None) -> None:
    """Join results of work that only fills its own rows of an array."""


def thread_limit() -> int:
    """Return how many threads to use at most: `OMP_NUM_THREADS` limits them, as it does those of linear algebra."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(int(wanted) if wanted.isdigit() else processors, processors, _MOST_THREADS))


def _n_threads(n_cells: int) -> int:
    return 1 if n_cells < _THREADED_CELLS else thread_limit()
