"""Calibration: do the cases that are given a probability of 0.7 come true seven times in ten?

Bins are those of [M589]: [m/M, (m+1)/M) for m = 0..M-1, the last one closed, so that a probability of 1 is counted.
A probability is compared with the edges in its own precision: 0.7 lies in the bin that begins at 7/10, in float32 too.

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589]; C. Guo et al., "On Calibration of
Modern Neural Networks", ICML 2017 (top-label error of several classes).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.accumulators import Accumulator, Totals, add_totals, as_sums, joined
from metrics.arguments import case_weights, same_length, whole_number
from metrics.blocks import Block, Workspace, for_blocks, rows_per_block
from metrics.class_names import class_name
from metrics.labels import Classes, distinct, label_array
from metrics.predictions import ProbabilityAccumulator, labelled_probabilities
from metrics.probabilities import Probabilities, probability_array
from metrics.results import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_MOST_BINS = 1_000_000


class CalibrationCurve(tuple[Floats, Floats]):
    """What came true against what was predicted, bin by bin: ``prob_true, prob_pred = curve``.

    Bins without cases are left out.

    Attributes
    ----------
    prob_true, prob_pred : ndarray of shape (bins,)
        Share of positive cases, and mean predicted probability.
    weight : ndarray of shape (bins,)
        Cases (or sum of their weights) of each bin.
    edges : ndarray of shape (bins, 2)
        Where each bin begins and ends.
    """

    weight: Floats
    edges: Floats

    def __new__(cls, prob_true: Floats, prob_pred: Floats, weight: Floats, edges: Floats) -> Self:
        """Make the pair; the rest becomes attributes."""
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
        """Draw the curve beside the diagonal of perfect calibration; a new figure without `ax`."""
        from metrics.plots import plot_calibration

        return plot_calibration(self, ax)


class CalibrationError(Measured):
    """The expected calibration error, a float, with the curve behind it.

    Attributes
    ----------
    curve : CalibrationCurve
        What came true against what was predicted.
    """

    curve: CalibrationCurve
    _per_class: tuple[NDArray[Any], Probabilities, Classes, int, ArrayLike | None] | None

    @cached_property
    def per_class(self) -> Floats:
        """Return each class's error against the rest, shape (k,); of a two-column or wider `y_prob` only.

        Worked out when first asked for, from the arguments of the call, which are kept and not copied.
        """
        if self._per_class is None:
            raise AttributeError(
                "per_class: the errors of single classes need probabilities of all, (n, k), in one call."
            )
        true, proba, classes, n_bins, weight = self._per_class
        codes = classes.indices(true, "y_true")
        bins = (
            CalibrationBins(n_bins).update(codes == j, column, sample_weight=weight) for j, column in enumerate(proba.T)
        )
        return np.array([float(each.result()) for each in bins])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the calibration curve; a new figure without `ax`."""
        return self.curve.plot(ax)


class _Bins(Accumulator):
    """Sums per bin: cases, positive cases, predicted probabilities."""

    n_bins: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the sums."""
        return dict.fromkeys(("weight", "positive", "probability"), (self.n_bins,))

    def binned(self, positive: NDArray[np.bool_], proba: NDArray[Any], weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        bins, m = bin_indices(proba, self.n_bins), self.n_bins
        probability = np.bincount(bins, weights=proba if weight is None else proba * weight, minlength=m)
        bins += m * positive  # cases of both kinds in one count
        negative, true = np.bincount(bins, weights=weight, minlength=2 * m).reshape(2, m)
        return {"weight": negative + true, "positive": true, "probability": probability}

    def curve(self) -> CalibrationCurve:
        """Return the calibration curve over the bins that hold cases."""
        weight = self.value("weight")
        kept = weight > 0
        if not kept.any():
            raise ValueError("Calibration: no case with a weight above zero was given, so there is no curve.")
        edges = np.arange(self.n_bins + 1) / self.n_bins
        pairs = np.column_stack([edges[:-1], edges[1:]])[kept]
        weight = weight[kept]
        return CalibrationCurve(
            self.value("positive")[kept] / weight, self.value("probability")[kept] / weight, weight, pairs
        )

    def result(self) -> CalibrationError:
        """Return the expected calibration error: the mean gap of the bins, weighted with their cases."""
        gap = np.abs(self.value("positive") - self.value("probability"))
        curve = self.curve()
        return CalibrationError(gap.sum() / self.value("weight").sum(), curve=curve, _per_class=None)


class CalibrationBins(_Bins):
    """Calibration of the probability of one class, taking its cases in batches.

    Parameters
    ----------
    n_bins : int
        M >= 1.
    """

    def __init__(self, n_bins: int) -> None:
        self.n_bins = whole_number(n_bins, "n_bins", 1, _MOST_BINS)
        super().__init__()

    def setting(self) -> dict[str, Any]:
        """Return the number of bins."""
        return {"n_bins": self.n_bins}

    def update(self, positive: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of cases; where it is refused nothing is added.

        Parameters
        ----------
        positive : array-like of bool, shape (n,)
            Whether the case is of the class.
        y_prob : array-like of shape (n,)
            Probability of the class, in [0, 1].
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        CalibrationBins
            This one.

        Raises
        ------
        ValueError
            In words: which argument, which row, what was expected.
        """
        truth, proba = np.asarray(positive, dtype=bool), probability_array(y_prob, "y_prob", one_column=True)
        same_length(len(truth), len(proba), "y_prob")
        weight = case_weights(sample_weight, len(truth))

        def work(_space: Workspace, start: int, stop: int) -> list[Totals]:
            own = None if weight is None else weight[start:stop]
            return [as_sums(self.binned(truth[start:stop], proba[start:stop], own))]

        batch = for_blocks(len(truth), max(rows_per_block(1), self.n_bins), work, joined)
        add_totals([self], batch, weight is not None)
        return self


class TopLabelCalibration(_Bins, ProbabilityAccumulator):
    """Calibration of the most probable class, taking its cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of the columns.
    n_bins : int
        M >= 1.
    """

    by_column = True

    def __init__(self, classes: int | ArrayLike | Classes, *, n_bins: int = 10) -> None:
        self.n_bins = whole_number(n_bins, "n_bins", 1, _MOST_BINS)
        super().__init__(classes)

    def setting(self) -> dict[str, Any]:
        """Return the classes and the number of bins."""
        return {"classes": self.classes, "n_bins": self.n_bins}

    def totals(self, block: Block) -> Totals:
        """Return the sums over a block."""
        decision, confidence = block.most_probable
        return self.binned(decision == block.true, confidence, block.weight)


def bin_indices(proba: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Return the bin of each probability.

    Parameters
    ----------
    proba : ndarray of shape (b,)
        float32 or float64.
    n_bins : int
        M.

    Returns
    -------
    ndarray of intp, shape (b,)
        m with m/M <= p < (m+1)/M, edges in the precision of the probabilities; M-1 for p >= 1.
    """
    edges = (np.arange(n_bins + 1) / n_bins).astype(proba.dtype)
    edges[-1] = np.inf  # the last bin is closed
    bins: NDArray[np.intp] = (proba * proba.dtype.type(n_bins)).astype(np.intp)
    np.minimum(bins, n_bins - 1, out=bins)
    # The product may be rounded across an edge: one step back or forth puts that right.
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
        M equally wide bins.
    pos_label : label, optional
        The positive class; by default the greater of the two labels, and 1 where only 0 or 1 occurs.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    CalibrationCurve
        The pair (prob_true, prob_pred), with `weight` and `edges`; bins without cases are left out.

    Raises
    ------
    ValueError
        In words: which argument, which row, what was expected.
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
    """Return the expected calibration error: the mean gap between what came true and what was predicted [M589].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_prob : array-like of shape (n,) or (n, k)
        One dimension: probability of the positive class. Two: probabilities of all classes, of which the greatest is
        judged against whether that class is true (top label).
    n_bins : int
        M equally wide bins.
    labels : array-like of shape (k,), optional
        What the columns stand for, in order; see `metrics.labels` for the rule without it.
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
    ValueError
        In words: which argument, which row, what was expected.
    """
    if _is_flat(y_prob):
        if labels is not None and len(Classes(labels)) == 2 and pos_label is None:
            pos_label = Classes(labels).labels[1]
        return _binary_bins(y_true, y_prob, n_bins, pos_label, sample_weight).result()
    if pos_label is not None:
        raise ValueError("pos_label: it goes with one column of probabilities; with a column per class use per_class.")
    true, proba, classes = labelled_probabilities(y_true, y_prob, labels)
    result = TopLabelCalibration(classes, n_bins=n_bins).update(true, proba, sample_weight=sample_weight).result()
    return CalibrationError(result, curve=result.curve, _per_class=(true, proba, classes, n_bins, sample_weight))


def _is_flat(values: ArrayLike) -> bool:
    try:
        return np.ndim(values) == 1
    except ValueError:  # rows of different lengths: refused in words where the probabilities are read
        return False


def _binary_bins(
    y_true: ArrayLike, y_prob: ArrayLike, n_bins: int, pos_label: object, sample_weight: ArrayLike | None
) -> CalibrationBins:
    true = label_array(y_true, "y_true")
    positive = true == _positive(distinct(true), pos_label)
    return CalibrationBins(n_bins).update(positive, y_prob, sample_weight=sample_weight)


def _positive(found: NDArray[Any], pos_label: object) -> Any:
    """Return the positive one of the labels found, as it stands in the label array."""
    names = [class_name(label) for label in found.tolist()]
    if len(names) > 2:
        raise ValueError(f"y_true: two classes were expected, found {len(names)}: {', '.join(names[:8])}.")
    if pos_label is not None:
        wanted = class_name(int(pos_label) if isinstance(pos_label, bool | np.bool_) else pos_label)
        if wanted not in names and len(names) == 2:
            raise ValueError(f"pos_label: {pos_label!r} is not one of the labels of y_true ({', '.join(names)}).")
        return found[names.index(wanted)] if wanted in names else None
    if len(names) == 2:
        return found[1]
    if names[0] in ("0", "1"):
        return 1 if found.dtype.kind in "iu" else "1"
    raise ValueError(f"pos_label: y_true holds only {names[0]!r}; say which label is the positive one.")
