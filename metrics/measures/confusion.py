"""Confusion matrices, error rates, and natural frequencies (whole cases out of a population).

Rows are true classes, columns are predicted classes.

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589].
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import Accumulator, Codes, LabelAccumulator, Totals
from metrics.errors import InputError
from metrics.inputs.arguments import (
    Floats,
    class_weights,
    number_array,
    required_weight,
    square_matrix,
    weights_by_label,
    whole_number,
)
from metrics.inputs.class_index import ClassIndex, column_classes, shared_classes
from metrics.inputs.labels import few, label_array, label_text
from metrics.text import confusion_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Normalize = Literal["true", "pred", "all"]


class ConfusionMatrix(np.ndarray[Any, np.dtype[Any]]):
    """A k x k array with labels and a `plot` method.

    Copies and elementwise results, such as the difference of two matrices, keep the labels. Results of another shape,
    or with rows and columns that may have moved, such as a sum, `swapaxes` or `take`, have none.

    Attributes
    ----------
    labels : tuple or None
        Labels of the rows and columns, in order.
    """

    labels: tuple[Any, ...] | None

    def __new__(cls, matrix: ArrayLike, labels: Sequence[Any] | None = None) -> Self:
        """Return a view of a matrix with labels; nothing is copied."""
        self = np.asarray(matrix).view(cls)
        self.labels = None if labels is None else tuple(labels)
        return self

    def __array_finalize__(self, source: Any) -> None:
        self.labels = None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # Elementwise only: cumulative sums come without a context, and matrix products have a signature.
        if array.shape == self.shape and context and not context[0].signature:
            parts = [part for part in context[1] if isinstance(part, ConfusionMatrix)]
            alike = all(part.labels == self.labels for part in parts)
            return ConfusionMatrix(array, self.labels if alike else None)
        return array[()] if array.ndim == 0 else np.asarray(array)

    def copy(self, order: Any = "C") -> Self:
        """Return a copy with the same labels."""
        return type(self)(np.array(self, order=order), self.labels)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def astype(self, dtype: Any, *options: Any, **more: Any) -> Self:
        """Return the matrix with another dtype and the same labels."""
        return type(self)(np.asarray(self).astype(dtype, *options, **more), self.labels)

    def transpose(self, *axes: Any) -> NDArray[Any]:  # type: ignore[override]
        """Return the transpose as a plain array, because its rows are no longer true classes."""
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

    def _repr_html_(self) -> str:
        """Return the matrix as an HTML table for notebooks: counts with row rates, rates, or a difference."""
        names = range(len(self)) if self.labels is None else self.labels
        return confusion_html([*map(label_text, names)], np.asarray(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the matrix: counts with row rates, or a difference if entries are negative.

        Draws on `ax` or on a new figure, and returns the axes; see `metrics.plots.plot_confusion`.
        """
        from metrics.drawing import plot_confusion

        return plot_confusion(self, ax)


class CellCounts(Accumulator):
    """Counts of (true class, predicted class), from labels or from probabilities."""

    classes: ClassIndex

    def counted(self, true: Codes, predicted: Codes, weight: Floats | None) -> Totals:
        """Return the number and the total weight of the cases in each cell."""
        k = len(self.classes)
        cells = true * k + predicted
        cases = np.bincount(cells, minlength=k * k).reshape(k, k)
        weighed = cases if weight is None else np.bincount(cells, weights=weight, minlength=k * k).reshape(k, k)
        return {"cases": cases, "weight": weighed}

    def matrix(self) -> NDArray[Any]:
        """Return the counts, shape (k, k): int64, or float64 if cases were weighted."""
        counts = np.zeros((len(self.classes),) * 2) + self.value("weight" if self.weighted else "cases")
        return np.asarray(counts if self.weighted else counts.astype(np.int64))

    def result(self) -> ConfusionMatrix:
        """Return the counts as a confusion matrix."""
        return ConfusionMatrix(self.matrix(), self.classes.labels.tolist())


class ConfusionCounts(CellCounts, LabelAccumulator):
    """Counts of (true class, predicted class), accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of rows and columns; a number k stands for the labels 0, ..., k-1.
    """

    def totals(self, true: Codes, predicted: Codes, weight: Floats | None) -> Totals:
        """Return the matrices over some cases."""
        return self.counted(true, predicted, weight)

    def occurring(self) -> NDArray[np.bool_]:
        """Return whether each class was seen, as true or as predicted class."""
        seen = np.zeros((len(self.classes),) * 2) + self.value("cases") > 0
        return np.asarray(seen.any(axis=0) | seen.any(axis=1))


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
        Labels of the rows and columns, in order; by default the sorted labels that occur. Unlike in scikit-learn, it is
        an error to omit a label that occurs, so that no case is dropped silently.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.
    normalize : {"true", "pred", "all"}, optional
        Divide by the row sums, the column sums, or the total; a sum of zero leaves zeros.

    Returns
    -------
    ConfusionMatrix of shape (k, k)
        An array: int64 counts, or float64 with weights or `normalize`. Rows are true, columns predicted classes.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import confusion_matrix
    >>> confusion_matrix(['ill', 'ill', 'well'], ['ill', 'well', 'well']).tolist()
    [[1, 1], [0, 1]]
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


class ErrorCounts(LabelAccumulator):
    """Cases and errors by true class, accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels; a number k stands for the labels 0, ..., k-1.
    """

    def totals(self, true: Codes, predicted: Codes, weight: Floats | None) -> Totals:
        """Return the counts over some cases."""
        k, wrong = len(self.classes), true != predicted
        return {
            "cases": np.bincount(true, weights=weight, minlength=k),
            "errors": np.bincount(true[wrong], weights=None if weight is None else weight[wrong], minlength=k),
            "predicted": np.bincount(predicted, weights=weight, minlength=k),
        }

    def result(self) -> float:
        """Return the error rate."""
        return self.error_rate()

    def error_rate(self) -> float:
        """Return the share of wrong predictions."""
        return self.class_weighted_error_rate(np.ones(len(self.classes)))

    def balanced_error_rate(self) -> float:
        """Return the mean error rate of the classes; see `metrics.balanced_error_rate`.

        Raises
        ------
        InputError
            If no case, or none with a weight above zero, was seen.
        """
        self.weight("cases")
        cases, errors = self.value("cases"), self.value("errors")
        present = cases > 0
        absent = ~present & (self.value("predicted") > 0)
        if absent.any():
            names = few(self.classes.labels[absent].tolist())
            warnings.warn(
                f"Never true, so without an error rate, and left out of the mean: {names}.", UserWarning, stacklevel=3
            )
        return float((errors[present] / cases[present]).mean())

    def class_weighted_error_rate(self, class_weight: ArrayLike | Mapping[Any, float]) -> float:
        """Return the share of wrong predictions, with each case weighted by its true class.

        Parameters
        ----------
        class_weight : array-like of shape (k,) or mapping of label to weight
            Weights >= 0 in any scale.

        Raises
        ------
        InputError
            If a weight is missing, or no case with a weight above zero was seen.
        """
        weights = class_weights(class_weight, self.classes)
        total = required_weight(float(np.sum(weights * self.value("cases"))))
        return float(np.sum(weights * self.value("errors"))) / total


def error_rate(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of wrong predictions [M589]: 1 - accuracy.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels of any type.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import error_rate
    >>> error_rate(['ill', 'ill', 'well', 'well'], ['ill', 'well', 'well', 'well'])
    0.25
    """
    return _error_counts(y_true, y_pred, sample_weight).error_rate()


def balanced_error_rate(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean error rate of the true classes [M589]: 1 - balanced accuracy.

    A class that is predicted but never true has no error rate; it is omitted with a warning.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As in `error_rate`; the same inputs are rejected.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Examples
    --------
    >>> from metrics import balanced_error_rate
    >>> balanced_error_rate(['ill', 'ill', 'well', 'well'], ['ill', 'well', 'well', 'well'])
    0.25
    """
    return _error_counts(y_true, y_pred, sample_weight).balanced_error_rate()


def class_weighted_error_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    class_weight: ArrayLike | Mapping[Any, float],
    *,
    labels: ArrayLike | None = None,
) -> float:
    """Return the share of wrong predictions, with each case weighted by its true class [M589].

    sum_i w[y_i] 1[y_i != f_i] / sum_i w[y_i].

    Parameters
    ----------
    y_true, y_pred
        As in `error_rate`; the same inputs are rejected.
    class_weight : array-like of shape (k,) or mapping of label to weight
        Weights >= 0 in any scale.
    labels : array-like of shape (k,), optional
        Labels of the weights, in order; see `metrics.inputs.class_index` for the default. Not needed with a mapping.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Examples
    --------
    >>> from metrics import class_weighted_error_rate
    >>> class_weighted_error_rate(['ill', 'well', 'well'], ['well', 'well', 'well'], {'ill': 3, 'well': 1})
    0.6
    """
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    class_weight = weights_by_label(class_weight)
    if labels is None and isinstance(class_weight, Mapping):
        labels = list(class_weight)
    elif not isinstance(class_weight, Mapping):
        class_weight = number_array(class_weight, "class_weight")
        if class_weight.ndim != 1:
            raise InputError(f"class_weight: one weight per class was expected, the shape is {class_weight.shape}.")
    classes = column_classes(len(class_weight), labels, true, "class_weight", "weights")
    return ErrorCounts(classes).update(true, predicted).class_weighted_error_rate(class_weight)


def _error_counts(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> ErrorCounts:
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    return ErrorCounts(shared_classes(true, predicted)).update(true, predicted, sample_weight=sample_weight)


# Remainders are compared at this many decimals, so that floating-point noise does not break ties.
_DECIMALS = 6
# With far more cases than this, floats are too coarse for the parts to add up to the population.
LARGEST_POPULATION = 10**12


def f1_scores(matrices: Floats) -> Floats:
    """Return the F1 of each class, shape (..., k), of matrices (..., k, k); 0 for a class never met nor named."""
    sums = matrices.sum(axis=-1) + matrices.sum(axis=-2)
    return np.asarray(2 * np.diagonal(matrices, axis1=-2, axis2=-1) / np.where(sums > 0, sums, 1.0))


def macro_f1(matrices: Floats) -> Floats:
    """Return the mean F1 of the classes, shape (...), of matrices (..., k, k)."""
    return np.asarray(f1_scores(matrices).mean(axis=-1))


def natural_frequencies(matrix: ArrayLike, population: int) -> NDArray[np.int64]:
    """Scale a confusion matrix to whole cases out of a population.

    The row sums are apportioned first, by largest remainder, then each row within its sum, so that matrices of equal
    prevalence get equal row sums. Of equal remainders the one with the lower index is rounded up.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Counts or rates >= 0; rows are true classes, columns are predicted classes. Only proportions matter.
    population : int
        Number of cases, 1 to 10**12.

    Returns
    -------
    ndarray of int64, shape (k, k)
        Whole cases that sum to `population`; each entry differs by less than one case from its exact share of its row.

    Raises
    ------
    InputError
        If the matrix is not square, has a negative or non-finite entry, or sums to 0, or population is out of range.
    TypeError
        If population is not a whole number.

    Examples
    --------
    >>> from metrics import natural_frequencies
    >>> natural_frequencies([[0.05, 0.05], [0.2, 0.7]], 1000).tolist()
    [[50, 50], [200, 700]]
    """
    total = whole_number(population, "population", 1, LARGEST_POPULATION)
    values = square_matrix(matrix, "matrix", 1)
    if (values < 0).any():
        raise InputError("matrix: a confusion matrix holds no negative numbers.")
    if not values.any():
        raise InputError("matrix: every entry is 0, so there are no cases to scale.")
    whole: NDArray[np.int64] = whole_cases(values[None], total)[0]
    return whole


def whole_cases(matrices: NDArray[np.float64], population: int) -> NDArray[np.int64]:
    """Scale confusion matrices, shape (n, k, k), each with a case, as `natural_frequencies` does, at once."""
    n, k, _ = matrices.shape
    rows = _apportioned(matrices.sum(axis=2), np.full(n, population, dtype=np.int64))
    return _apportioned(matrices.reshape(-1, k), rows.reshape(-1)).reshape(n, k, k)


def natural_cases(shares: ArrayLike, population: int) -> list[int]:
    """Scale the shares of classes, shape (k,), to whole cases, as `natural_frequencies` scales the rows of a matrix."""
    cases: list[int] = np.diagonal(natural_frequencies(np.diag(shares), population)).tolist()
    return cases


def _apportioned(shares: NDArray[np.float64], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split each total, (n,), in proportion to a row of `shares`, (n, k), by largest remainder; ties to the left."""
    sums = shares.sum(axis=1, keepdims=True)
    parts = np.divide(shares, sums, out=np.zeros_like(shares), where=sums > 0)
    exact = np.round(parts * totals[:, None], _DECIMALS)
    whole: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    left = totals - whole.sum(axis=1)
    if not left.any():  # as where counts are multiplied by a whole number
        return whole
    order = np.argsort(-np.round(exact - whole, _DECIMALS), axis=1, kind="stable")
    more = np.zeros_like(whole)
    np.put_along_axis(more, order, (np.arange(shares.shape[1]) < left[:, None]).astype(np.int64), axis=1)
    return whole + more
