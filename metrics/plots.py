"""Plots with matplotlib; each takes axes or makes a figure, and returns the axes.

Rows of matrices are the truth, columns what the model says; the axes say so in words. Colours are two hues of equal
lightness and greys, which hold in greyscale and for colour-deficient eyes; every number is written out too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.arguments import square_matrix
from metrics.class_names import class_name
from metrics.exchange import two_digits
from metrics.log_axis import LogAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from metrics.calibration import CalibrationCurve
    from metrics.cost_curves import CostCurve
    from metrics.elicited_metric import ElicitedMetric
    from metrics.operating_points import OperatingPoint

INK, QUIET, LINE = "#161A20", "#48505E", "#D8DCE3"
FIRST, SECOND = "#2A62A6", "#984B0A"
_STYLES = ("-", "--", ":", "-.")


def plot_confusion(matrix: ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None) -> Axes:
    """Draw a confusion matrix: counts with the rate of each row beneath, rates, or a difference.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Counts; or rates, where no entry exceeds 1; or a difference of either, where an entry is negative.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    labels : sequence of k labels, optional
        Names of the classes; by default the matrix's own ``labels``, else 0..k-1.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    values = square_matrix(np.asarray(matrix), "matrix", 1)
    names = labels if labels is not None else getattr(matrix, "labels", None)
    rates = bool((np.abs(values) <= 1).all() and (values != np.round(values)).any())
    if (values < 0).any():
        return _draw_difference(values, rates, names, ax)
    of_row = values / np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def cell(i: int, j: int) -> str:
        return _percent(values[i, j]) if rates else f"{_number(values[i, j])}\n{_percent(of_row[i, j])}"

    return _heat_map(of_row, cell, names, ax, _one_hue())


def plot_difference(
    first: ArrayLike, second: ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None
) -> Axes:
    """Draw the second confusion matrix minus the first, with signs, on a scale that is symmetric about 0.

    Parameters
    ----------
    first, second : array-like of shape (k, k)
        Both counts, or both rates.
    ax, labels
        As in `plot_confusion`.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        Where the two are of different shapes.
    """
    a, b = square_matrix(np.asarray(first), "first", 1), square_matrix(np.asarray(second), "second", 1)
    if a.shape != b.shape:
        raise ValueError(f"second: the shape {a.shape} of first was expected, found {b.shape}.")
    names = labels if labels is not None else getattr(first, "labels", None)
    rates = bool((a <= 1).all() and (b <= 1).all() and ((a != np.round(a)).any() or (b != np.round(b)).any()))
    return _draw_difference(b - a, rates, names, ax)


def plot_cost_matrix(
    costs: ElicitedMetric | ArrayLike, ax: Axes | None = None, *, labels: Sequence[object] | None = None
) -> Axes:
    """Draw a cost matrix; that of an elicited metric with its 90 % intervals.

    Parameters
    ----------
    costs : ElicitedMetric or array-like of shape (k, k)
        Costs >= 0.
    ax, labels
        As in `plot_confusion`; an elicited metric names its classes itself.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    from metrics.elicited_metric import ElicitedMetric
    from metrics.exports.wording import cost_text

    metric = costs if isinstance(costs, ElicitedMetric) else None
    values = square_matrix(costs.cost_matrix if isinstance(costs, ElicitedMetric) else costs)
    names = metric.classes if metric and labels is None else labels

    def cell(i: int, j: int) -> str:
        return "\n".join(filter(None, cost_text(metric, i, j))) if metric else two_digits(float(values[i, j]))

    shade = values / (values.max() or 1.0)
    return _heat_map(shade, cell, names, ax, _one_hue())


def plot_calibration(curve: CalibrationCurve, ax: Axes | None = None) -> Axes:
    """Draw what came true against what was predicted; larger dots stand for more cases.

    Parameters
    ----------
    curve : CalibrationCurve
        As `metrics.calibration_curve` returns it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    axes = _axes(ax)
    axes.plot([0, 1], [0, 1], color=QUIET, lw=1, ls="--", label="perfectly calibrated")
    axes.plot(curve.prob_pred, curve.prob_true, color=FIRST, lw=1.5, label="model")
    axes.scatter(curve.prob_pred, curve.prob_true, 15 + 150 * curve.weight / curve.weight.max(), color=FIRST, zorder=3)
    axes.set(xlabel="predicted probability", ylabel="share that came true", aspect="equal")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    return _tidy(axes, "upper left")


def plot_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: ElicitedMetric,
    ax: Axes | None = None,
    *,
    pos_label: object,
    sample_weight: ArrayLike | None = None,
) -> Axes:
    """Draw the ROC curve of a binary classifier with the operating point that costs least under an elicited metric.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of any type, compared with the classes of the metric as text.
    y_score : array-like of shape (n,)
        Scores of the positive class, greater means more probably positive.
    metric : ElicitedMetric
        Of two classes.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    pos_label : label
        The positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    matplotlib Axes
        Where it was drawn; through the optimal point runs the line of equal cost.

    Raises
    ------
    ValueError
        Where the metric has more than two classes, or a label is none of them.
    """
    from metrics.operating_points import operating_point

    point = operating_point(y_true, y_score, metric, pos_label=pos_label, sample_weight=sample_weight)
    return plot_operating_point(point, ax)


def plot_operating_point(point: OperatingPoint, ax: Axes | None = None) -> Axes:
    """Draw a ROC curve with its operating point of least cost; through it runs the line of equal cost.

    Parameters
    ----------
    point : OperatingPoint
        As `metrics.operating_point` returns it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    from sklearn.metrics import auc

    axes = _axes(ax)
    axes.plot([0, 1], [0, 1], color=LINE, lw=1)
    axes.plot(*point.curve[:2], color=FIRST, lw=1.8, label=f"model, area {auc(*point.curve[:2]):.3f}")
    at = (point.false_rate, point.true_rate)
    if math.isfinite(point.slope):
        axes.axline(at, slope=point.slope, color=QUIET, lw=1, ls="--", label="equal cost")
    where = f"score from {point.threshold:.3g}" if math.isfinite(point.threshold) else "nothing called positive"
    axes.plot(*at, "o", color=SECOND, ms=9, label=f"least cost: {two_digits(point.cost)} a case, {where}")
    called = f"called {point.positive}"
    axes.set(xlabel=f"share of {point.negative} {called}", ylabel=f"share of {point.positive} {called}")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    return _tidy(axes, "lower right")


def plot_cost_curve(curve: CostCurve, ax: Axes | None = None) -> Axes:
    """Draw the cost of models over one exchange rate, with break-even points and the elicited ratio.

    Parameters
    ----------
    curve : CostCurve
        As `metrics.cost_curve` returns it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where it was drawn; the ratio is on a logarithmic axis.
    """
    axes = _axes(ax)
    points = curve.break_even_points()
    scale = LogAxis.over([curve.elicited, *(curve.plausible or ()), *(point.ratio for point in points)], 3)
    ratios = np.geomspace(scale.low, scale.high, 200)
    hues = (FIRST, SECOND, QUIET)
    for m, (name, cost) in enumerate(zip(curve.models, curve.cost(ratios), strict=True)):
        axes.plot(
            ratios, cost, color=hues[m % len(hues)], ls=_STYLES[m // len(hues) % len(_STYLES)], lw=1.8, label=name
        )
    if curve.plausible is not None:
        low, high = max(curve.plausible[0], scale.low), min(curve.plausible[1], scale.high)
        axes.axvspan(low, high, color=LINE, alpha=0.5, lw=0, label="plausible")
    if curve.elicited > 0:
        axes.axvline(curve.elicited, color=INK, lw=1.2, ls=":", label=f"elicited: {two_digits(curve.elicited)}")
    for point in points:
        at = (point.ratio, float(curve.cost(point.ratio).min()))
        axes.plot(*at, "o", mfc="white", mec=INK, ms=7, zorder=3)
        text = f"{two_digits(point.ratio)}\n{point.below} | {point.above}"
        below: dict[str, Any] = {"xytext": (0, -10), "textcoords": "offset points", "ha": "center", "va": "top"}
        axes.annotate(text, at, **below, size=8, parse_math=False)
    axes.set_xscale("log")
    axes.set_xticks(scale.ticks(), map(two_digits, scale.ticks()))
    axes.set_xticks([], minor=True)
    axes.set(xlim=(scale.low, scale.high), ylim=(0, None), ylabel="mean cost per case, in units of the yardstick")
    axes.set_xlabel(f"{curve.mistake}: counts as so many of the yardstick")
    return _tidy(axes, "upper left")


def _draw_difference(values: NDArray[Any], rates: bool, names: Sequence[object] | None, ax: Axes | None) -> Axes:
    def cell(i: int, j: int) -> str:
        value = float(values[i, j])
        sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
        return sign + (_percent(abs(value)) if rates else _number(abs(value)))

    return _heat_map(values / (np.abs(values).max() or 1.0), cell, names, ax, _two_hues(), low=-1.0)


def _heat_map(
    shade: NDArray[Any],
    cell: Callable[[int, int], str],
    names: Sequence[object] | None,
    ax: Axes | None,
    colours: Colormap,
    low: float = 0.0,
) -> Axes:
    """Draw a matrix whose cells are shaded in [low, 1] and hold text."""
    axes = _axes(ax)
    k = len(shade)
    if names is not None and len(names) != k:
        raise ValueError(f"labels: {k} names were expected, {len(names)} given.")
    axes.imshow(shade, cmap=colours, vmin=low, vmax=1, aspect="equal")
    size = max(4.0, min(10.0, 60 / k))
    for i in range(k):
        for j in range(k):
            ink = "white" if abs(shade[i, j]) > 0.6 else INK
            axes.text(j, i, cell(i, j), ha="center", va="center", color=ink, size=size, parse_math=False)
    texts = [class_name(name) for name in names] if names is not None else [str(i) for i in range(k)]
    crowded = max(map(len, texts)) * k > 40
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(range(k), texts, parse_math=False, **turned)
    axes.set_yticks(range(k), texts, parse_math=False)
    axes.set_xticks(np.arange(k + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(k + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.5)
    axes.tick_params(which="both", length=0)
    axes.set(xlabel="the model says", ylabel="the truth is")
    axes.spines[:].set_visible(False)
    return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def _tidy(axes: Axes, place: Literal["upper left", "lower right"]) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(loc=place, frameon=False, fontsize=9)
    # A dollar sign in a name is a dollar sign.
    for text in (*legend.get_texts(), axes.xaxis.label, axes.yaxis.label):
        text.set_parse_math(False)
    return axes


def _one_hue() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("one hue", ["#F3F4F6", FIRST])


def _two_hues() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("two hues", [FIRST, "#F3F4F6", SECOND])


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.095 else f"{100 * share:.1f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"
