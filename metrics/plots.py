"""Plots with matplotlib; each draws on the given axes or on a new figure, and returns the axes.

Rows of matrices are the truth and columns the model's answer; axis labels say so, and every number is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from metrics.drawing import plot_confusion, plot_cost_matrix, plot_difference, tidy
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.labels import distinct, label_array, label_text
from metrics.measures.calibration import CalibrationCurve
from metrics.models.cost_curves import CostCurve, OperatingPoint, operating_point, roc_axes, roc_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metrics.elicited.elicited_metric import ElicitedMetric

__all__ = [
    "plot_calibration",
    "plot_confusion",
    "plot_cost_curve",
    "plot_cost_matrix",
    "plot_difference",
    "plot_operating_point",
    "plot_roc",
]


def plot_calibration(curve: CalibrationCurve, ax: Axes | None = None) -> Axes:
    """Draw observed shares against predicted probabilities; see `CalibrationCurve.plot`."""
    return curve.plot(ax)


def plot_cost_curve(curve: CostCurve, ax: Axes | None = None) -> Axes:
    """Draw the costs of models as one exchange rate varies; see `CostCurve.plot`."""
    return curve.plot(ax)


def plot_operating_point(point: OperatingPoint, ax: Axes | None = None) -> Axes:
    """Draw a ROC curve with its least-cost operating point; see `OperatingPoint.plot`."""
    return point.plot(ax)


def plot_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: ElicitedMetric | None = None,
    ax: Axes | None = None,
    *,
    pos_label: object,
    sample_weight: ArrayLike | None = None,
) -> Axes:
    """Draw the ROC curve of a binary classifier, with the least-cost operating point under an elicited metric.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `metrics.operating_point`; the same inputs are rejected.
    metric : ElicitedMetric, optional
        A metric over two classes. Without it only the curve is drawn, with its area.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes drawn on; the line of equal cost runs through the optimal point.
    """
    if metric is not None:
        return operating_point(y_true, y_score, metric, pos_label=pos_label, sample_weight=sample_weight).plot(ax)
    name = label_text(pos_label)
    true = label_array(y_true, "y_true")
    occurring = ClassIndex(distinct(true))
    positive = occurring.places(true, "y_true") == occurring.place(pos_label)
    _, curve = roc_of(positive, y_score, sample_weight, (f"not {name}", name))
    return tidy(roc_axes(curve, ax, "others", name), "lower right")
