"""Calibration in bins, taking its cases in batches: see `metrics.probabilistic.calibration` for what the bins are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.accumulators import Accumulator, Totals, add_totals, as_sums, joined
from metrics.batches.blocks import Block, Workspace, for_blocks, rows_per_block
from metrics.batches.predictions import ProbabilityAccumulator
from metrics.batches.results import Measured
from metrics.errors import InputError
from metrics.inputs.arguments import case_weights, demanded_weight, same_length, whole_number
from metrics.inputs.labels import Classes
from metrics.inputs.probabilities import Probabilities, probability_array

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
        """Draw the curve beside the diagonal of perfect calibration.

        On `ax` or a new figure, whose axes it returns; see `metrics.plots.plot_calibration`.
        """
        from metrics.display.curves import plot_calibration

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

        Raises
        ------
        AttributeError
            Where there was one column of probabilities only, or they came in batches.
        InputError
            Where the arguments were changed since.
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
        codes = classes.indices(true, "y_true")
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
        demanded_weight(float(weight.sum()))
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
        InputError
            In words: which argument, which row, what was expected.
        """
        truth, proba = np.asarray(positive, dtype=bool), probability_array(y_prob, "y_prob", flat="expected")
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
