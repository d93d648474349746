"""The costs of models over one exchange rate, their break-even points, and a model's least-cost operating point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.drawing import FIRST, INK, LINE, QUIET, SECOND, LogAxis, axes_for, line_style, set_ratio_axis, tidy
from metrics.elicited.elicited_metric import ElicitedMetric, require_metric
from metrics.elicited.exchange import rate_of
from metrics.errors import ArgumentTypeError, InputError, require
from metrics.inputs.arguments import Floats, case_weights, number_array, required_weight, same_length
from metrics.measures.costs import EQUAL_COST
from metrics.policies.costs import UnitCosts
from metrics.text import two_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class BreakEven:
    """A ratio at which the cheapest model changes."""

    ratio: float  # the exchange rate at which both models cost the same
    # the cheapest model below and above it
    below: str
    above: str


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Mean costs of models over one exchange rate, per case, in units of the yardstick mistake.

    Parameters
    ----------
    models : tuple of str
        Names of m models.
    fixed, slope : ndarray of shape (m,)
        The cost of a model at the ratio r is ``fixed + slope * r``; the slope is the share of the cases with the
        mistake.
    elicited : float
        The elicited ratio.
    plausible : tuple of float or None
        Its 90 % range, if the metric has one; the upper end may be inf.
    mistake : str
        Name of the mistake.
    """

    models: tuple[str, ...]
    fixed: Floats
    slope: Floats
    elicited: float
    plausible: tuple[float, float] | None
    mistake: str

    def cost(self, ratio: ArrayLike) -> Floats:
        """Return the mean cost of each model, shape (models, ...), at ratios of shape (...)."""
        ratios = np.asarray(ratio, dtype=np.float64)
        return np.asarray(np.add.outer(self.fixed, 0 * ratios) + np.multiply.outer(self.slope, ratios))

    def cheapest(self, ratio: float) -> str:
        """Return the model with the least cost; of several, the one that is cheapest just above the ratio."""
        cost = self.cost(ratio)
        tied = np.flatnonzero(cost <= cost.min() + EQUAL_COST * max(1.0, float(cost.min())))
        return self.models[int(tied[np.argmin(self.slope[tied])])]

    def break_even_points(self) -> tuple[BreakEven, ...]:
        """Return the ratios > 0 at which the cheapest model changes, ascending: the corners of the lower envelope."""
        points: list[BreakEven] = []
        ratio, current = 0.0, self.models.index(self.cheapest(0.0))
        while True:
            gentler = np.flatnonzero(self.slope < self.slope[current])
            if not len(gentler):
                return tuple(points)
            crossings = (self.fixed[gentler] - self.fixed[current]) / (self.slope[current] - self.slope[gentler])
            ratio = max(ratio, float(crossings.min()))
            first = gentler[crossings <= crossings.min() * (1 + 1e-12)]
            following = int(first[np.argmin(self.slope[first])])
            points.append(BreakEven(ratio, self.models[current], self.models[following]))
            current = following

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the lines, the break-even points and the elicited ratio, over a logarithmic axis.

        Draws on `ax` or on a new figure, and returns the axes.
        """
        axes, points = axes_for(ax), self.break_even_points()
        scale = LogAxis.over([self.elicited, *(self.plausible or ()), *(point.ratio for point in points)], 3)
        ratios = np.geomspace(scale.low, scale.high, 200)
        for index, (name, cost) in enumerate(zip(self.models, self.cost(ratios), strict=True)):
            axes.plot(ratios, cost, **line_style(index), label=name)
        set_ratio_axis(axes, scale, self.mistake, self.elicited, self.plausible)
        for point in points:
            at = (point.ratio, float(self.cost(point.ratio).min()))
            axes.plot(*at, "o", mfc="white", mec=INK, ms=7, zorder=3)
            text = f"{two_digits(point.ratio)}\n{point.below} | {point.above}"
            below: dict[str, Any] = {"xytext": (0, -10), "textcoords": "offset points", "ha": "center", "va": "top"}
            axes.annotate(text, at, **below, size=8, parse_math=False)
        axes.set(ylim=(0, None), ylabel="mean cost per case, in units of the yardstick")
        return tidy(axes, "upper left")


def cost_curve(metric: ElicitedMetric, matrices: Mapping[str, ArrayLike], mistake: tuple[object, object]) -> CostCurve:
    """Return the costs of models as a function of the cost of one mistake.

    Parameters
    ----------
    metric : ElicitedMetric
        Gives the other costs, at its estimate; the yardstick is that of `exchange_rates`.
    matrices : mapping of str to array-like of shape (k, k)
        Confusion matrix of each model, as counts or rates; rows are true classes, columns are predicted classes, in
        the order of the metric's classes or with their own labels, as from `metrics.confusion_matrix`.
    mistake : tuple
        (true, predicted), as in `policy_curves`: the mistake whose cost varies; for family "dlpm" any wrong answer for
        that true class.

    Returns
    -------
    CostCurve
        One line per model.

    Raises
    ------
    InputError
        If the mistake is the yardstick or not a mistake, or a matrix has the wrong shape or no cases.

    Examples
    --------
    >>> from metrics import ElicitedMetric, cost_curve
    >>> metric = ElicitedMetric.from_cost_matrix(['ill', 'well'], [[0, 10], [1, 0]])
    >>> curve = cost_curve(metric, {'careful': [[10, 0], [20, 70]], 'bold': [[6, 4], [2, 88]]}, ('ill', 'well'))
    >>> [round(point.ratio, 2) for point in curve.break_even_points()]
    [4.5]
    """
    rate = rate_of(metric, mistake)
    if not isinstance(matrices, Mapping):
        raise ArgumentTypeError("matrices: each model's by its name were expected, {name: matrix}.")
    if not matrices:
        raise InputError("matrices: the confusion matrix of at least one model was expected.")
    varied = rate.cells(len(metric.classes))
    others = np.where(varied, 0.0, UnitCosts.estimated(metric).estimate)
    shares = [_shares(name, metric.matrix_of(matrix, f"matrices, {name!r}")) for name, matrix in matrices.items()]
    return CostCurve(
        models=tuple(map(str, matrices)),
        fixed=np.array([(share * others).sum() for share in shares]),
        slope=np.array([(share * varied).sum() for share in shares]),
        elicited=rate.ratio,
        plausible=rate.range_90,
        mistake=rate.mistake.name,
    )


def _shares(name: str, values: Floats) -> Floats:
    if (values < 0).any() or not values.any():
        raise InputError(f"matrices, {name!r}: numbers >= 0, not all 0, were expected.")
    return np.asarray(values / values.sum())


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A point on a ROC curve, with the curve.

    Parameters
    ----------
    threshold : float
        Cases with at least this score are predicted positive; inf if none is.
    false_rate, true_rate : float
        Share of the negative and of the positive cases that are predicted positive, in [0, 1].
    cost : float
        Mean cost per case at this point, in units of the worst mistake.
    slope : float
        Slope of the lines of equal cost in the ROC plane; inf if missing a positive case costs nothing.
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

        Draws on `ax` or on a new figure, and returns the axes.
        """
        axes, at = roc_axes(self.curve, ax, self.negative, self.positive), (self.false_rate, self.true_rate)
        if math.isfinite(self.slope):
            axes.axline(at, slope=self.slope, color=QUIET, lw=1, ls="--", label="equal cost")
        where = f"score from {self.threshold:.3g}" if math.isfinite(self.threshold) else "nothing called positive"
        axes.plot(*at, "o", color=SECOND, ms=9, label=f"least cost: {two_digits(self.cost)} a case, {where}")
        return tidy(axes, "lower right")


def roc_axes(curve: tuple[Floats, Floats, Floats], ax: Axes | None, negative: str, positive: str) -> Axes:
    """Draw a ROC curve with its area and the chance line, on `ax` or on a new figure."""
    from sklearn.metrics import auc

    axes = axes_for(ax)
    axes.plot([0, 1], [0, 1], color=LINE, lw=1)
    axes.plot(*curve[:2], color=FIRST, lw=1.8, label=f"model, area {auc(*curve[:2]):.3f}")
    called = f"called {positive}"
    axes.set(xlabel=f"share of {negative} {called}", ylabel=f"share of {positive} {called}")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    return axes


def roc_of(
    positive: NDArray[np.bool_], y_score: ArrayLike, sample_weight: ArrayLike | None, names: tuple[str, str]
) -> tuple[float, tuple[Floats, Floats, Floats]]:
    """Return the share of positive cases, and false rates, true rates and thresholds of the ROC curve.

    Error messages call the negative and the positive class by their `names`; otherwise see `operating_point`.
    """
    require("sklearn")
    from sklearn.metrics import roc_curve

    score, weight = number_array(y_score, "y_score"), case_weights(sample_weight, len(positive))
    if score.ndim != 1:
        raise InputError(f"y_score: one score per case was expected, the shape is {score.shape}.")
    same_length(len(positive), len(score), "y_score")
    required_weight(1.0 if weight is None else float(weight.sum()))
    share = float(np.average(positive, weights=weight))
    if share in (0.0, 1.0):
        others = "" if weight is None else ", or weigh nothing"
        raise InputError(f"y_true: all cases are {names[int(share)]!r}{others}; both must occur.")
    return share, roc_curve(positive, score, sample_weight=weight)


def operating_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric: ElicitedMetric,
    *,
    pos_label: object,
    sample_weight: ArrayLike | None = None,
) -> OperatingPoint:
    """Return the threshold of a score that costs least on these cases.

    Unlike `ElicitedMetric.decision_threshold` it does not need calibrated probabilities, but it is only as good as the
    sample of cases. Lines of equal cost in the ROC plane: F. Provost and T. Fawcett, "Robust classification for
    imprecise environments", Machine Learning 42, 2001.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of any type, compared with the classes as text; both classes must occur.
    y_score : array-like of shape (n,)
        Scores on any scale; a greater score means more probably positive.
    metric : ElicitedMetric
        A metric over two classes.
    pos_label : label
        The positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    OperatingPoint
        The point of least cost; ties go to the one that predicts the fewest cases positive.

    Raises
    ------
    InputError
        If the metric has more than two classes, a label is not one of them, or only one of them occurs.

    Examples
    --------
    >>> from metrics import ElicitedMetric, operating_point
    >>> metric = ElicitedMetric.from_cost_matrix(['ill', 'well'], [[0, 10], [1, 0]])
    >>> operating_point(['well', 'well', 'ill', 'ill'], [0.1, 0.6, 0.4, 0.9], metric, pos_label='ill').threshold
    0.4
    """
    require_metric(metric)
    if len(metric.classes) != 2:
        raise InputError(f"metric: two classes were expected, it has {len(metric.classes)}.")
    p = int(metric.class_index.indices_of([pos_label], "pos_label")[0])
    positive = metric.class_index.indices(y_true, "y_true") == p
    share, curve = roc_of(positive, y_score, sample_weight, (metric.classes[1 - p], metric.classes[p]))
    alarm = (1 - share) * float(metric.cost_matrix[1 - p, p])
    miss = share * float(metric.cost_matrix[p, 1 - p])
    costs = alarm * curve[0] + miss * (1 - curve[1])
    best = int(np.argmax(costs <= costs.min() + EQUAL_COST))
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
