"""Measures that accumulate over batches of cases.

An accumulator holds float64 sums over the cases it has seen: `update` adds a batch, `merge` adds what another
accumulator of the same kind has seen, `result` returns the measure. The functions of this package call `update` and
`result` once each. Results agree to about 1e-12 however the cases are split. Accumulators can be pickled and sent to
other processes.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import ArgumentTypeError, InputError
from metrics.inputs.arguments import Floats, case_weights, named_classes, require_order, required_weight, same_length
from metrics.inputs.class_index import ClassIndex, column_classes
from metrics.inputs.labels import Probabilities, checked_rows, few, label_array, probability_array

Codes = NDArray[np.intp]
Totals = dict[str, Any]
Part = TypeVar("Part")
Result = TypeVar("Result")
InParts = Generator[None, None, Result]  # work that pauses, usually after every few hundredths of a second

# About 1 MB of float64: the working arrays of a chunk stay in the processor's cache. That makes the measures two to
# four times as fast as a single pass over all cases, and bounds their memory.
_CHUNK_CELLS = 120_000
CHUNK_ROWS = 16_000
_KEPT_CELLS = 450_000  # more than half of what a chunk's working arrays hold together
_THREADS = min(4, os.cpu_count() or 1)


def in_threads(of: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """Apply `of` to each part in a few threads and return the results in order; NumPy releases the GIL in its loops.

    The number of threads does not affect the results, provided the parts share no generator and no memory.
    """
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(of, parts))


def completed(work: InParts[Result]) -> Result:
    """Do all parts of the work, and return its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            found: Result = end.value
            return found


class Measured(float):
    """A float that carries the details behind it, as attributes that the subclass names.

    It behaves as a float: it compares and formats as one, arithmetic returns plain floats, and scikit-learn's
    cross-validation accepts it. Pickling keeps the details.
    """

    def __new__(cls, value: float, **carried: Any) -> Self:
        """Make the number; the keyword arguments become attributes."""
        self = super().__new__(cls, value)
        self.__dict__.update(carried)
        return self


class Accumulator(ABC):
    """Sums over the cases seen so far.

    Two accumulators can be merged if all their public attributes other than the sums are equal.

    Attributes
    ----------
    sums : dict of str to float or ndarray
        By name; empty before the first case.
    weighted : bool
        Whether any batch came with weights.
    """

    def __init__(self) -> None:
        self.sums: Totals = {}
        self.weighted = False

    @abstractmethod
    def result(self) -> Any:
        """Return the measure over all cases seen so far.

        Raises
        ------
        InputError
            If no case, or none with a weight above zero, was seen.
        """

    def merge(self, other: Self) -> Self:
        """Add what another accumulator of the same kind and setting has seen.

        Parameters
        ----------
        other : Accumulator
            It is not changed.

        Returns
        -------
        Accumulator
            This accumulator.

        Raises
        ------
        TypeError
            If the other is of a different type.
        InputError
            If its setting differs.
        """
        if type(other) is not type(self):
            raise ArgumentTypeError(f"A {type(self).__name__} cannot take in a {type(other).__name__}.")
        theirs = other._setting()
        for name, value in self._setting().items():
            if not _equal(value, theirs[name]):
                raise InputError(f"Two {type(self).__name__} accumulators with different {name} cannot be merged.")
        self.add(other.sums, other.weighted)
        return self

    def fresh(self) -> Self:
        """Return an empty accumulator with the same settings."""
        other = copy(self)
        other.sums, other.weighted = {}, False
        return other

    def add(self, totals: Mapping[str, Any], weighted: bool = False) -> None:
        """Add the totals of a batch, by name, to the sums; `weighted` says whether it came with weights.

        Raises InputError if a total is not finite; nothing is added in that case.
        """
        if not all(np.isfinite(total).all() for total in totals.values()):
            raise InputError("The sum over the cases is not a finite number; numbers of a smaller range are needed.")
        self.sums = summed([self.sums, totals])
        self.weighted |= weighted

    def value(self, name: str) -> Any:
        """Return one of the sums, an array or a float; 0.0 before the first case."""
        return self.sums.get(name, 0.0)

    def weight(self, name: str = "weight") -> float:
        """Return the sum of weights by which the measure divides.

        Raises
        ------
        InputError
            If the sum is zero.
        """
        return required_weight(float(np.sum(self.value(name))))

    def _setting(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name not in ("sums", "weighted") and name[0] != "_"
        }


class _OfClasses(Accumulator):
    """Sums over cases of k classes."""

    def __init__(self, classes: int | ArrayLike | ClassIndex) -> None:
        self.classes = classes if isinstance(classes, ClassIndex) else ClassIndex(classes)
        super().__init__()


class LabelAccumulator(_OfClasses):
    """Sums over pairs of a true and a predicted label.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels, in order; a number k stands for the labels 0, ..., k-1.
    """

    @abstractmethod
    def totals(self, true: Codes, predicted: Codes, weight: Floats | None) -> Totals:
        """Return the sums over some cases, by name; labels are indices of classes. Changes nothing."""

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of cases; if it is rejected, nothing is added.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        LabelAccumulator
            This accumulator.

        Raises
        ------
        InputError
            If an argument is invalid; the message names the argument, the row and what was expected.
        """
        true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
        same_length(len(true), len(predicted), "y_pred")
        weight = case_weights(sample_weight, len(true))
        # Every chunk costs an addition of k x k cells, so it has at least as many rows.
        parts = (
            self.totals(
                self.classes.places(true[rows], "y_true", rows.start),
                self.classes.places(predicted[rows], "y_pred", rows.start),
                None if weight is None else weight[rows],
            )
            for rows in chunks(len(true), max(len(self.classes) ** 2, CHUNK_ROWS))
        )
        self.add(summed(parts), weight is not None)
        return self


class ProbabilityAccumulator(_OfClasses):
    """Sums over predicted probabilities and true labels.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns; a number k stands for the labels 0, ..., k-1.
    """

    @abstractmethod
    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over b cases, by name, from columns of true classes, probabilities (b, k) and weights.

        They are valid; nothing is changed.
        """

    def update(self, y_true: ArrayLike, y_proba: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of cases; if it is rejected, nothing is added.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_proba : array-like of shape (n, k)
            Predicted probabilities; rows sum to 1 within `metrics.inputs.labels.ROW_SUM_TOLERANCE`.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        ProbabilityAccumulator
            This accumulator.

        Raises
        ------
        InputError
            If an argument is invalid; the message names the argument, the row and what was expected.
        """
        OnePass(this=self).update(y_true, y_proba, sample_weight=sample_weight)
        return self


class OnePass(Mapping[str, ProbabilityAccumulator]):
    """Several accumulators that share one pass over each batch.

    Parameters
    ----------
    **accumulators : ProbabilityAccumulator
        By name; all of the same classes.

    Raises
    ------
    InputError
        If there are none, or their classes differ.
    """

    def __init__(self, **accumulators: ProbabilityAccumulator) -> None:
        self._parts = accumulators
        classes = [part.classes for part in accumulators.values()]
        if not classes or any(other != classes[0] for other in classes):
            raise InputError("Accumulators that share a pass must be of the same classes, and at least one is needed.")

    def __getitem__(self, name: str) -> ProbabilityAccumulator:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def update(
        self, y_true: ArrayLike, y_proba: ArrayLike, *, sample_weight: ArrayLike | None = None, check_input: bool = True
    ) -> Self:
        """Add a batch of cases to all; see `ProbabilityAccumulator.update`.

        Parameters
        ----------
        y_true, y_proba, sample_weight
            As there.
        check_input : bool
            Whether to check every probability. Pass False only if they are known to be non-negative and to sum to 1;
            invalid ones would be added unnoticed.

        Returns
        -------
        OnePass
            This accumulator.
        """
        parts = list(self._parts.values())
        classes = parts[0].classes
        true, proba = label_array(y_true, "y_true"), probability_array(y_proba)
        same_length(len(true), len(proba), "y_proba")
        weight = case_weights(sample_weight, len(true))
        require_order(y_proba, classes, "y_proba")
        if proba.shape[1] != len(classes):
            raise InputError(f"y_proba: {len(classes)} columns were expected, one per class, found {proba.shape[1]}.")
        totals: list[Totals] = [{} for _ in parts]
        for rows in probability_chunks(proba):
            codes = classes.places(true[rows], "y_true", rows.start)
            if check_input:
                checked_rows(proba[rows], first=rows.start)
            own = None if weight is None else weight[rows]
            more = [part.totals(codes, proba[rows], own) for part in parts]
            totals = [summed(both) for both in zip(totals, more, strict=True)]
        for part, of_batch in zip(parts, totals, strict=True):
            part.add(of_batch, weight is not None)
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of another pass with the same accumulators; see `Accumulator.merge`."""
        if set(other) != set(self):
            raise InputError("Two passes with different accumulators cannot be merged.")
        for name, part in self._parts.items():
            part.merge(other[name])
        return self

    def result(self) -> dict[str, Any]:
        """Return the results by name."""
        return {name: part.result() for name, part in self._parts.items()}


def labelled_probabilities(
    y_true: ArrayLike, y_proba: ArrayLike, labels: ArrayLike | ClassIndex | None, name: str = "y_proba"
) -> tuple[NDArray[Any], Probabilities, ClassIndex]:
    """Return true labels (n,) and probabilities (n, k) as arrays, and the class of each column.

    For `labels` see `metrics.inputs.class_index`. They are ready for `ProbabilityAccumulator.update`, which checks the
    values. Raises InputError if an argument is invalid; the message calls the probabilities `name`.
    """
    true, proba = label_array(y_true, "y_true"), probability_array(y_proba, name)
    same_length(len(true), len(proba), name)
    named = named_classes(y_proba)
    classes = column_classes(proba.shape[1], labels, true, named=named)
    if labels is None and classes is named and named.names != named.sorted_names():
        # Matrices and weights passed with it would need this order too, so the caller has to confirm it.
        raise InputError(
            f"labels: the columns of {name} are named {few(named.names)}, which is not the sorted order; "
            "pass labels in the order of the columns."
        )
    require_order(y_proba, classes, name)
    return true, proba, classes


def chunks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield the rows 0 to n - 1 as slices of at most `size` rows."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def probability_chunks(proba: Probabilities) -> Iterator[slice]:
    """Yield the rows of probabilities (n, k) in chunks that fit the cache, each of at least k rows."""
    n, k = proba.shape
    size = max(min(_CHUNK_CELLS // k, CHUNK_ROWS), k)
    if n > size:
        # glibc keeps twice as much freed memory as the largest block that was ever freed and returns the rest to the
        # system. Without this untouched block, getting memory back for each chunk makes a concern score three times
        # as slow.
        np.empty(_KEPT_CELLS)
    return chunks(n, size)


def summed(parts: Iterable[Mapping[str, Any]]) -> Totals:
    """Add up mappings of totals, name by name."""
    sums: Totals = {}
    for totals in parts:
        for name, total in totals.items():
            sums[name] = sums[name] + total if name in sums else total
    return sums


def weighted_sum(values: NDArray[Any], weight: Floats | None) -> float:
    """Return the weighted sum of one value per case."""
    return float(values.sum(dtype=np.float64) if weight is None else weight @ values)


def total_weight(true: Codes, weight: Floats | None) -> float:
    """Return the total weight of some cases; their number if they are unweighted."""
    return float(len(true) if weight is None else weight.sum())


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)
