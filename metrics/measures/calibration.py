"""Calibration: do cases with a predicted probability of 0.7 come true seven times in ten?

The bins are those of [M589]: [m/M, (m+1)/M) for m = 0..M-1, with the last one closed so that it holds a probability of
1. Probabilities are compared with the edges in their own precision: 0.7 lies in the bin that begins at 7/10, in float32
too.

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589]; C. Guo et al., "On Calibration of
Modern Neural Networks", ICML 2017 (top-label error of several classes).
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import (
    CHUNK_ROWS,
    Accumulator,
    Codes,
    Measured,
    ProbabilityAccumulator,
    Totals,
    chunks,
    labelled_probabilities,
    summed,
)
from metrics.drawing import FIRST, QUIET, axes_for, tidy
from metrics.errors import InputError, RowError
from metrics.inputs.arguments import Floats, case_weights, same_length, whole_number
from metrics.inputs.class_index import ClassIndex, passed_labels
from metrics.inputs.labels import Probabilities, distinct, few, label_array, probability_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS = 1_000_000


class CalibrationCurve(tuple[Floats, Floats]):
    """Observed share against predicted probability, by bin: ``prob_true, prob_pred = curve``.

    Empty bins are omitted.

    Attributes
    ----------
    prob_true, prob_pred : ndarray of shape (bins,)
        Share of positive cases and mean predicted probability, per bin.
    weight : ndarray of shape (bins,)
        Number of cases, or sum of their weights, per bin.
    edges : ndarray of shape (bins, 2)
        Start and end of each bin.
    """

    weight: Floats
    edges: Floats

    def __new__(cls, prob_true: Floats, prob_pred: Floats, weight: Floats, edges: Floats) -> Self:
        """Make the pair; the other arguments become attributes."""
        self = super().__new__(cls, (prob_true, prob_pred))
        self.weight, self.edges = weight, edges
        return self

    def __getnewargs__(self) -> tuple[Floats, Floats, Floats, Floats]:
        return (*self, self.weight, self.edges)

    @property
    def prob_true(self) -> Floats:
        """Return the share of positive cases per bin."""
        return self[0]

    @property
    def prob_pred(self) -> Floats:
        """Return the mean predicted probability per bin."""
        return self[1]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw observed shares against predicted probabilities; larger dots stand for more cases.

        Draws on `ax` or on a new figure, and returns the axes.
        """
        axes = axes_for(ax)
        axes.plot([0, 1], [0, 1], color=QUIET, lw=1, ls="--", label="perfectly calibrated")
        axes.plot(self.prob_pred, self.prob_true, color=FIRST, lw=1.5, label="model")
        sizes = 15 + 150 * self.weight / self.weight.max()
        axes.scatter(self.prob_pred, self.prob_true, sizes, color=FIRST, zorder=3)
        axes.set(xlabel="predicted probability", ylabel="share that came true", aspect="equal")
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        return tidy(axes, "upper left")


class CalibrationError(Measured):
    """The expected calibration error, a float, with its calibration curve.

    Attributes
    ----------
    curve : CalibrationCurve
        Observed share against predicted probability.
    """

    curve: CalibrationCurve
    _per_class: tuple[NDArray[Any], Probabilities, ClassIndex, int, ArrayLike | None] | None

    @cached_property
    def per_class(self) -> Floats:
        """Return the error of each class against the rest, shape (k,); needs a `y_prob` with one column per class.

        Computed on first access from the arguments of the call, which are kept without a copy. Raises AttributeError if
        there was only one column of probabilities, or they were added in batches. Raises InputError if the arguments
        have been changed since the call.
        """
        if self._per_class is None:
            raise AttributeError(
                "per_class: the errors of single classes need probabilities of all, (n, k), in one call."
            )
        true, proba, classes, n_bins, weight = self._per_class
        if TopLabelCalibration(classes, n_bins=n_bins).update(true, proba, sample_weight=weight).result() != float(
            self
        ):
            raise InputError("y_true, y_prob or sample_weight was changed since the error was taken; take it again.")
        codes = classes.places(true, "y_true")
        bins = (
            CalibrationBins(n_bins).update(codes == j, column, sample_weight=weight) for j, column in enumerate(proba.T)
        )
        return np.array([float(each.result()) for each in bins])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the calibration curve; see `CalibrationCurve.plot`."""
        return self.curve.plot(ax)


class _Bins(Accumulator):
    """Sums per bin: cases, positive cases, predicted probabilities."""

    n_bins: int

    def binned(self, positive: NDArray[np.bool_], proba: NDArray[Any], weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        bins, m = bin_indices(proba, self.n_bins), self.n_bins
        cases = np.ones(len(proba)) if weight is None else weight
        values = {"weight": cases, "positive": positive * cases, "probability": proba * cases}
        return {name: np.bincount(bins, weights=value, minlength=m) for name, value in values.items()}

    def curve(self) -> CalibrationCurve:
        """Return the calibration curve over the bins that hold cases."""
        self.weight()
        weight = self.value("weight")
        kept = weight > 0
        edges = np.arange(self.n_bins + 1) / self.n_bins
        pairs = np.column_stack([edges[:-1], edges[1:]])[kept]
        weight = weight[kept]
        return CalibrationCurve(
            self.value("positive")[kept] / weight, self.value("probability")[kept] / weight, weight, pairs
        )

    def result(self) -> CalibrationError:
        """Return the expected calibration error: the mean gap of the bins, weighted by their cases."""
        total, curve = self.weight(), self.curve()
        gap = np.abs(self.value("positive") - self.value("probability"))
        return CalibrationError(gap.sum() / total, curve=curve, _per_class=None)


class CalibrationBins(_Bins):
    """Calibration of the probability of one class, accumulated over batches of cases.

    Parameters
    ----------
    n_bins : int
        M >= 1.
    """

    def __init__(self, n_bins: int) -> None:
        self.n_bins = whole_number(n_bins, "n_bins", 1, _MOST_BINS)
        super().__init__()

    def update(self, positive: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of cases; if it is rejected, nothing is added.

        Parameters
        ----------
        positive : array-like of bool, shape (n,)
            Whether each case belongs to the class.
        y_prob : array-like of shape (n,)
            Probability of the class, in [0, 1].
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        CalibrationBins
            This accumulator.

        Raises
        ------
        InputError
            If an argument is invalid; the message names the argument, the row and what was expected.
        """
        truth, proba = _truth(positive), probability_array(y_prob, "y_prob", flat="expected")
        same_length(len(truth), len(proba), "y_prob")
        weight = case_weights(sample_weight, len(truth))
        parts = (
            self.binned(truth[rows], proba[rows], None if weight is None else weight[rows])
            for rows in chunks(len(truth), max(CHUNK_ROWS, self.n_bins))
        )
        self.add(summed(parts), weight is not None)
        return self


def _truth(positive: ArrayLike) -> NDArray[np.bool_]:
    array = label_array(positive, "positive")
    if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():  # any text would be True as a truth value
        raise InputError(f"positive: whether each case is of the class was expected, found {few(distinct(array))}.")
    return array.astype(bool, copy=False)


class TopLabelCalibration(_Bins, ProbabilityAccumulator):
    """Calibration of the most probable class, accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    n_bins : int
        M >= 1.
    """

    def __init__(self, classes: int | ArrayLike | ClassIndex, *, n_bins: int = 10) -> None:
        self.n_bins = whole_number(n_bins, "n_bins", 1, _MOST_BINS)
        super().__init__(classes)

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        top = reduce(np.maximum, proba.T)  # much faster than row by row
        largest = proba == top[:, np.newaxis]
        if np.count_nonzero(largest) == len(true):
            right = largest[np.arange(len(true)), true]
        else:  # on ties the first class counts as the most probable
            right = largest.argmax(axis=1) == true
        return self.binned(right, top, weight)


def bin_indices(proba: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Return the bin m of each probability: m/M <= p < (m+1)/M, edges in the precision of p; M-1 for p >= 1."""
    edges = (np.arange(n_bins + 1) / n_bins).astype(proba.dtype)
    edges[-1] = np.inf  # the last bin is closed
    bins: NDArray[np.intp] = (proba * proba.dtype.type(n_bins)).astype(np.intp)
    np.minimum(bins, n_bins - 1, out=bins)
    # Rounding may carry the product across an edge; one step back or forth corrects this.
    bins -= proba < edges.take(bins, mode="clip")
    bins += proba >= edges.take(bins + 1, mode="clip")
    return bins


def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationCurve:
    """Return the calibration curve of the probability of one of two classes [M589].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, of two classes.
    y_prob : array-like of shape (n,)
        Probability of the positive class, in [0, 1].
    n_bins : int
        M, the number of equally wide bins.
    pos_label : label, optional
        The positive class; by default the greater of the two labels, or 1 if only 0 or 1 occurs.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    CalibrationCurve
        The pair (prob_true, prob_pred), with `weight` and `edges`; empty bins are omitted.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import calibration_curve
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], n_bins=2)
    >>> curve
    (array([0.5, 0.5]), array([0.2, 0.7]))
    """
    return _binary_bins(y_true, y_prob, n_bins, pos_label, sample_weight).curve()


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationError:
    """Return the expected calibration error: the mean gap between observed share and predicted probability [M589].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_prob : array-like of shape (n,) or (n, k)
        One dimension: probability of the positive class. Two: probabilities of all classes; the error is that of the
        most probable class (top label).
    n_bins : int
        M, the number of equally wide bins.
    labels : array-like of shape (k,), optional
        Labels of the columns, in order; see `metrics.inputs.class_index` for the default. For one-dimensional `y_prob`,
        the two classes, the second of which is positive.
    pos_label : label, optional
        The positive class of a one-dimensional `y_prob`; see `calibration_curve`.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    CalibrationError
        A float in [0, 1], lower is better, with `curve` and, in two dimensions, `per_class`.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import expected_calibration_error
    >>> round(expected_calibration_error([0, 1, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]]), 3)
    0.35
    """
    if _is_flat(y_prob):
        return _binary_bins(y_true, y_prob, n_bins, pos_label, sample_weight, labels).result()
    if pos_label is not None:
        raise InputError("pos_label: it applies to one column of probabilities; with a column per class use per_class.")
    true, proba, classes = labelled_probabilities(y_true, y_prob, labels, "y_prob")
    try:
        result = TopLabelCalibration(classes, n_bins=n_bins).update(true, proba, sample_weight=sample_weight).result()
    except RowError as error:  # accumulators always call probabilities y_proba
        raise RowError(error.argument.replace("y_proba", "y_prob"), error.row, error.fault) from None
    return CalibrationError(result, curve=result.curve, _per_class=(true, proba, classes, n_bins, sample_weight))


def _is_flat(values: ArrayLike) -> bool:
    try:
        return np.ndim(values) == 1
    except ValueError:  # rows of different lengths: rejected with a message when the probabilities are read
        return False


def _binary_bins(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    n_bins: int,
    pos_label: object,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None = None,
) -> CalibrationBins:
    true = label_array(y_true, "y_true")
    if labels is None:
        positive = positive_cases(true, pos_label)
    else:
        classes = passed_labels(labels)
        if len(classes) != 2:
            raise InputError(f"labels: y_prob is the probability of one of two classes, found {len(classes)} labels.")
        p = 1 if pos_label is None else int(classes.indices_of([pos_label], "pos_label")[0])
        positive = classes.places(true, "y_true") == p
    return CalibrationBins(n_bins).update(positive, y_prob, sample_weight=sample_weight)


def positive_cases(true: NDArray[Any], pos_label: object) -> NDArray[np.bool_]:
    """Return whether each case belongs to the positive class among the labels that occur."""
    found = distinct(true)
    if len(found) > 2:
        raise InputError(f"y_true: two classes were expected, found {len(found)}: {few(found)}.")
    occurring = ClassIndex(found)
    if pos_label is None and len(found) == 1:
        if occurring.names[0] not in ("0", "1"):
            raise InputError(f"pos_label: y_true holds only {occurring.names[0]!r}; say which label is positive.")
        return np.full(len(true), occurring.names[0] == "1")
    index = 1 if pos_label is None else occurring.place(pos_label)
    if index < 0 and len(found) == 2:
        raise InputError(f"pos_label: {pos_label!r} is not one of the labels of y_true ({few(found)}).")
    return np.asarray(occurring.places(true, "y_true") == index)
