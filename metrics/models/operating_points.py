"""The operating point of a binary classifier that costs least under an elicited metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.arguments import case_weights, number_array, same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metrics.elicited.elicited_metric import ElicitedMetric

# Mean costs that differ by less are equal: rounding must not decide. The worst mistake costs 1.
_SAME_COST = 1e-12


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A point of a ROC curve, with the curve.

    Parameters
    ----------
    threshold : float
        Cases with a score of at least this are called positive; inf where none is.
    false_rate, true_rate : float
        Share of the negative and of the positive cases called positive, in [0, 1].
    cost : float
        Mean cost per case there, in units of the worst mistake.
    slope : float
        Slope of the lines of equal cost in the ROC plane; inf where missing a positive case costs nothing.
    curve : tuple of ndarray
        False rates, true rates and thresholds of the whole curve.
    positive, negative : str
        Names of the classes.
    """

    threshold: float
    false_rate: float
    true_rate: float
    cost: float
    slope: float
    curve: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    positive: str
    negative: str

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ROC curve with this point and the line of equal cost through it.

        On `ax` or a new figure, whose axes it returns; see `metrics.plots.plot_operating_point`.
        """
        from metrics.display.curves import plot_operating_point

        return plot_operating_point(self, ax)


def operating_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: ElicitedMetric,
    *,
    pos_label: object,
    sample_weight: ArrayLike | None = None,
) -> OperatingPoint:
    """Return the threshold of a score that costs least on these cases.

    Unlike `ElicitedMetric.decision_threshold` it needs no calibrated probabilities, but is only as good as the cases.
    Lines of equal cost in the ROC plane: F. Provost and T. Fawcett, "Robust classification for imprecise environments",
    Machine Learning 42, 2001.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of any type, compared with the classes as text; both classes must occur.
    y_score : array-like of shape (n,)
        Scores in any unit, greater means more probably positive.
    metric : ElicitedMetric
        Of two classes.
    pos_label : label
        The positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    OperatingPoint
        Of equally cheap points the one that calls the fewest cases positive.

    Raises
    ------
    InputError
        Where the metric has more than two classes, a label is none of them, or only one occurs.
    """
    from sklearn.metrics import roc_curve

    if len(metric.classes) != 2:
        raise InputError(f"metric: two classes were expected, it has {len(metric.classes)}.")
    p = int(metric.class_index.indices_of([pos_label], "pos_label")[0])
    positive = metric.class_index.indices(y_true, "y_true") == p
    if positive.all() or not positive.any():
        raise InputError(f"y_true: all cases are {metric.classes[p if positive.all() else 1 - p]!r}; both must occur.")
    score, weight = number_array(y_score, "y_score"), case_weights(sample_weight, len(positive))
    if score.ndim != 1:
        raise InputError(f"y_score: one score per case was expected, the shape is {score.shape}.")
    same_length(len(positive), len(score), "y_score")
    curve = roc_curve(positive, score, sample_weight=weight)
    share = float(np.average(positive, weights=weight))
    alarm = (1 - share) * float(metric.cost_matrix[1 - p, p])
    miss = share * float(metric.cost_matrix[p, 1 - p])
    costs = alarm * curve[0] + miss * (1 - curve[1])
    best = int(np.argmax(costs <= costs.min() + _SAME_COST))
    false_rate, true_rate, threshold = (float(values[best]) for values in curve)
    return OperatingPoint(
        threshold=threshold,
        false_rate=false_rate,
        true_rate=true_rate,
        cost=float(costs[best]),
        slope=alarm / miss if miss else math.inf,
        curve=curve,
        positive=metric.classes[p],
        negative=metric.classes[1 - p],
    )
