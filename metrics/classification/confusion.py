"""Confusion matrices: rows are true classes, columns are predicted classes.

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.accumulators import Accumulator, LabelAccumulator, Totals
from metrics.batches.blocks import Block
from metrics.batches.predictions import ProbabilityAccumulator
from metrics.classification.decisions import LeastCost
from metrics.errors import InputError
from metrics.inputs.labels import Classes, label_array, shared_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Codes = NDArray[np.intp]
Normalize = Literal["true", "pred", "all"]


class ConfusionMatrix(np.ndarray[Any, np.dtype[Any]]):
    """A k x k array that knows its labels and draws itself; an ordinary array otherwise.

    The difference of two matrices is one too. What has another shape, such as a sum over rows, has no labels.

    Attributes
    ----------
    labels : tuple or None
        What the rows and columns stand for, in order.
    """

    labels: tuple[Any, ...] | None

    def __new__(cls, matrix: ArrayLike, labels: Sequence[Any] | None = None) -> Self:
        """Return a matrix as one with labels; nothing is copied."""
        self = np.asarray(matrix).view(cls)
        self.labels = None if labels is None else tuple(labels)
        return self

    def __array_finalize__(self, source: Any) -> None:
        labels = getattr(source, "labels", None)
        self.labels = labels if labels is not None and self.shape == (len(labels),) * 2 else None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array.shape == self.shape:
            parts = [part for part in (context[1] if context else ()) if isinstance(part, ConfusionMatrix)]
            alike = all(part.labels == self.labels for part in parts)
            return ConfusionMatrix(array, self.labels if alike else None)
        return array[()] if array.ndim == 0 else np.asarray(array)

    def transpose(self, *axes: Any) -> NDArray[Any]:  # type: ignore[override]
        """Return the transposed numbers as a plain array: its rows are no true classes any more."""
        return np.asarray(self).transpose(*axes)

    @property
    def T(self) -> NDArray[Any]:  # type: ignore[override]  # noqa: N802  numpy's name
        """Return `transpose()`."""
        return self.transpose()

    def __getitem__(self, index: Any) -> Any:
        """Return entries; parts of the matrix are plain arrays."""
        return np.asarray(self)[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return ConfusionMatrix, (np.asarray(self), self.labels)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the matrix: counts with the rates of each row, or a difference where entries are negative.

        On `ax` or a new figure, whose axes it returns; see `metrics.plots.plot_confusion`.
        """
        from metrics.display.matrices import plot_confusion

        return plot_confusion(self, ax)


class _CellCounts(Accumulator):
    """Counts of (true class, predicted class), whatever says what was predicted."""

    classes: Classes

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the two matrices."""
        k = len(self.classes)
        return {"cases": (k, k), "weight": (k, k)}

    def counted(self, true: Codes, predicted: Codes, weight: NDArray[np.float64] | None) -> Totals:
        """Return how often each cell of the matrix occurs, and with what weight."""
        k = len(self.classes)
        cells = true * k + predicted
        cases = np.bincount(cells, minlength=k * k).reshape(k, k)
        weighed = cases if weight is None else np.bincount(cells, weights=weight, minlength=k * k).reshape(k, k)
        return {"cases": cases, "weight": weighed}

    def matrix(self) -> NDArray[Any]:
        """Return the counts, shape (k, k): int64, or float64 where cases were weighted."""
        return np.asarray(self.value("weight") if self.weighted else self.value("cases").astype(np.int64))

    def result(self) -> ConfusionMatrix:
        """Return the counts as a confusion matrix."""
        return ConfusionMatrix(self.matrix(), self.classes.labels.tolist())


class ConfusionCounts(_CellCounts, LabelAccumulator):
    """Counts of (true class, predicted class), taking their cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of rows and columns; a number k stands for the labels 0, ..., k-1.
    """

    def totals(self, true: Codes, predicted: Codes, weight: NDArray[np.float64] | None) -> Totals:
        """Return the matrices over some cases."""
        return self.counted(true, predicted, weight)

    def occurring(self) -> NDArray[np.bool_]:
        """Return, per class, whether it was seen, true or predicted."""
        seen = self.value("cases") > 0
        return np.asarray(seen.any(axis=0) | seen.any(axis=1))


class DecisionCounts(_CellCounts, ProbabilityAccumulator):
    """The confusion matrix of the decisions taken on predicted probabilities.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of the columns.
    rule : LeastCost, optional
        Decide for least expected cost; by default for the most probable class. Of equal ones the first.
    """

    by_column = True

    def __init__(self, classes: int | ArrayLike | Classes, rule: LeastCost | None = None) -> None:
        super().__init__(classes)
        self.rule = rule

    def setting(self) -> dict[str, Any]:
        """Return the classes and the costs."""
        return {"classes": self.classes, "cost_matrix": None if self.rule is None else self.rule.cost_matrix}

    def totals(self, block: Block) -> Totals:
        """Return the matrices over a block."""
        decisions = block.most_probable[0] if self.rule is None else self.rule.decide(block.columns)
        return self.counted(block.true, decisions, block.weight)


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: Normalize | None = None,
) -> ConfusionMatrix:
    """Count the cases by true and predicted class [M589].

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels of any type.
    labels : array-like of shape (k,), optional
        What the rows and columns stand for, in order; by default the sorted labels that occur. Unlike scikit-learn's,
        a label that occurs and is left out is an error: no case is dropped unseen.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.
    normalize : {"true", "pred", "all"}, optional
        Divide by the sums of the rows, of the columns, or of the whole; a sum of zero leaves zeros.

    Returns
    -------
    ConfusionMatrix of shape (k, k)
        An array: int64 counts, or float64 with weights or `normalize`. Rows are true, columns predicted classes.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    classes = shared_classes(true, predicted, labels)
    counts = ConfusionCounts(classes).update(true, predicted, sample_weight=sample_weight)
    kept = np.arange(len(classes)) if labels is not None else np.flatnonzero(counts.occurring())
    matrix = _normalized(counts.matrix()[np.ix_(kept, kept)], normalize)
    return ConfusionMatrix(matrix, classes.labels[kept].tolist())


def _normalized(matrix: NDArray[Any], normalize: Normalize | None) -> NDArray[Any]:
    if normalize is None:
        return matrix
    if normalize not in ("true", "pred", "all"):
        raise InputError(f"normalize: 'true', 'pred', 'all' or None was expected, found {normalize!r}.")
    total = matrix.sum(axis={"true": 1, "pred": 0, "all": None}[normalize], keepdims=True)
    return np.asarray(np.divide(matrix, total, out=np.zeros(matrix.shape), where=total > 0))
