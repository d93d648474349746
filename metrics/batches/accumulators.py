"""Measures that take their cases in batches.

An accumulator holds sums over the cases it has seen: `update` adds a batch, `merge` adds what another accumulator of
the same kind has seen, `result` returns the measure. The functions of this package are one `update` and `result`.
Sums of batches are added without rounding (`ExactSum`), so that batches may be merged in any order and any grouping
with the same result to the last bit. Accumulators can be pickled and sent to other processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.blocks import Workspace, for_blocks
from metrics.batches.sums import ExactSum
from metrics.errors import InputError
from metrics.inputs.arguments import case_weights, demanded_weight, same_length
from metrics.inputs.labels import Classes, label_array

Totals = dict[str, Any]

_FEWEST_PAIRS, _MOST_PAIRS = 16_000, 1_000_000


class Accumulator(ABC):
    """Sums over the cases seen so far.

    Attributes
    ----------
    sums : dict of ExactSum
        By name.
    weighted : bool
        Whether any batch came with weights.
    """

    def __init__(self) -> None:
        self.sums = {name: ExactSum(shape) for name, shape in self.shapes().items()}
        self.weighted = False

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the sums, by name."""

    @abstractmethod
    def setting(self) -> dict[str, Any]:
        """Return what two accumulators must have in common to be merged, by name."""

    @abstractmethod
    def result(self) -> Any:
        """Return the measure over all cases seen so far.

        Raises
        ------
        InputError
            Where no case, or none with a weight above zero, was seen.
        """

    def merge(self, other: Self) -> Self:
        """Add what another accumulator of the same kind and setting has seen.

        Parameters
        ----------
        other : Accumulator
            It is left as it was.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        TypeError
            Where the other is of another kind.
        InputError
            Where its setting differs.
        """
        if type(other) is not type(self):
            raise TypeError(f"A {type(self).__name__} cannot take in a {type(other).__name__}.")
        theirs = other.setting()
        for name, value in self.setting().items():
            if not _equal(value, theirs[name]):
                raise InputError(f"Two {type(self).__name__} accumulators with different {name} cannot be merged.")
        for name, total in self.sums.items():
            total.merge(other.sums[name])
        self.weighted |= other.weighted
        return self

    def fresh(self) -> Self:
        """Return an accumulator of the same setting that has seen nothing."""
        other = copy(self)
        other.sums = {name: ExactSum(total.shape) for name, total in self.sums.items()}
        other.weighted = False
        return other

    def value(self, name: str) -> Any:
        """Return one of the sums: an array, or a float where its shape is ()."""
        value = self.sums[name].value()
        return float(value) if value.ndim == 0 else value

    def weight(self, name: str = "weight") -> float:
        """Return the sum of weights that the measure divides by.

        Parameters
        ----------
        name : str
            Of the sum.

        Raises
        ------
        InputError
            Where it is zero.
        """
        return demanded_weight(float(self.value(name)))


class LabelAccumulator(Accumulator):
    """Sums over pairs of a true and a predicted label.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels, in order; a number k stands for the labels 0, ..., k-1.
    """

    def __init__(self, classes: int | ArrayLike | Classes) -> None:
        self.classes = classes if isinstance(classes, Classes) else Classes(classes)
        super().__init__()

    @abstractmethod
    def totals(self, true: NDArray[np.intp], predicted: NDArray[np.intp], weight: NDArray[np.float64] | None) -> Totals:
        """Return the sums over some cases, given as indices of classes, by name; nothing is changed."""

    def setting(self) -> dict[str, Any]:
        """Return the classes."""
        return {"classes": self.classes}

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of cases; where it is refused nothing is added.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        LabelAccumulator
            This one.

        Raises
        ------
        InputError
            In words: which argument, which row, what was expected.
        """
        true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
        same_length(len(true), len(predicted), "y_pred")
        weight = case_weights(sample_weight, len(true))

        def work(_space: Workspace, start: int, stop: int) -> list[Totals]:
            rows = self.classes.indices(true[start:stop], "y_true", start)
            columns = self.classes.indices(predicted[start:stop], "y_pred", start)
            return [as_sums(self.totals(rows, columns, None if weight is None else weight[start:stop]))]

        # As many rows as a matrix of k x k has cells, which must be added up for every block.
        step = min(max(len(self.classes) ** 2, _FEWEST_PAIRS), _MOST_PAIRS)
        # On one thread: counting holds the interpreter's lock, others would only wait for it.
        batch = for_blocks(len(true), step, work, joined, n_columns=0)
        add_totals([self], batch, weight is not None)
        return self


def as_sums(totals: Totals) -> Totals:
    """Return totals as float64 arrays of their own, ready to be added to."""
    return {name: np.array(total, dtype=np.float64) for name, total in totals.items()}


def joined(so_far: list[Totals], more: list[Totals]) -> list[Totals]:
    """Add the totals of further blocks, per accumulator and name, to those so far."""
    for own, other in zip(so_far, more, strict=True):
        for name, total in own.items():
            total += other[name]
    return so_far


def add_totals(accumulators: Sequence[Accumulator], batch: Sequence[Totals], weighted: bool) -> None:
    """Add the totals of one batch to the sums of accumulators.

    Parameters
    ----------
    accumulators : sequence of Accumulator
        They take the batch all or not at all.
    batch : sequence of dict
        Per accumulator, totals by name.
    weighted : bool
        Whether the batch came with weights.

    Raises
    ------
    InputError
        Where a sum is not finite.
    """
    if not all(np.isfinite(total).all() for totals in batch for total in totals.values()):
        raise InputError("The sum over the cases is not a finite number; numbers of a smaller range are needed.")
    for part, totals in zip(accumulators, batch, strict=True):
        for name, total in part.sums.items():
            total.add(totals[name])
        part.weighted |= weighted


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)
