"""Plots with matplotlib; each takes axes or makes a figure, and returns the axes.

Rows of matrices are the truth, columns what the model says; the axes say so in words, and every number is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from metrics.display.curves import plot_calibration, plot_cost_curve, plot_operating_point, plot_roc_curve
from metrics.display.matrices import plot_confusion, plot_cost_matrix, plot_difference
from metrics.models.cost_curves import operating_point

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


def plot_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: ElicitedMetric | None = None,
    ax: Axes | None = None,
    *,
    pos_label: object,
    sample_weight: ArrayLike | None = None,
) -> Axes:
    """Draw the ROC curve of a binary classifier, with the operating point that costs least under an elicited metric.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `metrics.operating_point`, and refused as there.
    metric : ElicitedMetric, optional
        Of two classes; without it the curve is drawn alone, with its area.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where it was drawn; through the optimal point runs the line of equal cost.
    """
    if metric is None:
        return plot_roc_curve(y_true, y_score, ax, pos_label=pos_label, sample_weight=sample_weight)
    point = operating_point(y_true, y_score, metric, pos_label=pos_label, sample_weight=sample_weight)
    return point.plot(ax)
