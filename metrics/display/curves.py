"""Curves of calibration, of operating points, of costs, and of what one could do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metrics.display.axes import FIRST, INK, LINE, QUIET, SECOND, LogAxis, axes_for, tidy
from metrics.display.text import two_digits
from metrics.errors import InputError
from metrics.inputs.arguments import case_weights, number_array, same_length
from metrics.inputs.labels import label_array, label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


Floats = NDArray[np.float64]
_STYLES = ("-", "--", ":", "-.")


class Calibration(Protocol):
    """What came true against what was predicted, bin by bin."""

    @property
    def prob_true(self) -> Floats:
        """Return the share of positive cases per bin."""

    @property
    def prob_pred(self) -> Floats:
        """Return the mean predicted probability per bin."""

    @property
    def weight(self) -> Floats:
        """Return the cases per bin."""


class PointOfCurve(Protocol):
    """An operating point with its ROC curve."""

    @property
    def threshold(self) -> float:
        """Return the score from which cases are called positive."""

    @property
    def false_rate(self) -> float:
        """Return the share of the negative cases called positive."""

    @property
    def true_rate(self) -> float:
        """Return the share of the positive cases called positive."""

    @property
    def cost(self) -> float:
        """Return the mean cost per case."""

    @property
    def slope(self) -> float:
        """Return the slope of the lines of equal cost."""

    @property
    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Return the false rates, true rates and thresholds of the curve."""

    @property
    def positive(self) -> str:
        """Return the name of the positive class."""

    @property
    def negative(self) -> str:
        """Return the name of the negative class."""


class Corner(Protocol):
    """Where the cheapest model changes."""

    @property
    def ratio(self) -> float:
        """Return the exchange rate at which both cost the same."""

    @property
    def below(self) -> str:
        """Return the cheapest model below it."""

    @property
    def above(self) -> str:
        """Return the cheapest model above it."""


class CostsOfModels(Protocol):
    """Costs of models over one exchange rate."""

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names."""

    @property
    def elicited(self) -> float:
        """Return the ratio that was elicited."""

    @property
    def plausible(self) -> tuple[float, float] | None:
        """Return its 90 % range, or None."""

    @property
    def mistake(self) -> str:
        """Return the name of the mistake."""

    def cost(self, ratio: ArrayLike, /) -> Floats:
        """Return the mean cost of each model at each ratio."""

    def break_even_points(self) -> Sequence[Corner]:
        """Return where the cheapest model changes."""


def plot_calibration(curve: Calibration, ax: Axes | None = None) -> Axes:
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
    axes = axes_for(ax)
    axes.plot([0, 1], [0, 1], color=QUIET, lw=1, ls="--", label="perfectly calibrated")
    axes.plot(curve.prob_pred, curve.prob_true, color=FIRST, lw=1.5, label="model")
    axes.scatter(curve.prob_pred, curve.prob_true, 15 + 150 * curve.weight / curve.weight.max(), color=FIRST, zorder=3)
    axes.set(xlabel="predicted probability", ylabel="share that came true", aspect="equal")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    return tidy(axes, "upper left")


def plot_roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    ax: Axes | None = None,
    *,
    pos_label: object,
    sample_weight: ArrayLike | None = None,
) -> Axes:
    """Draw the ROC curve of a score with its area.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, compared with `pos_label` as text; both kinds must occur.
    y_score : array-like of shape (n,)
        Scores in any unit, greater means more probably positive.
    ax
        As in `plot_calibration`, and returned as there.
    pos_label : label
        The positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Raises
    ------
    InputError
        Where all cases are of one kind, or the lengths differ.
    """
    from sklearn.metrics import roc_curve

    positive = np.array([label_text(label) for label in label_array(y_true, "y_true").tolist()]) == label_text(
        pos_label
    )
    score, weight = number_array(y_score, "y_score"), case_weights(sample_weight, len(positive))
    same_length(len(positive), len(score), "y_score")
    if positive.all() or not positive.any():
        raise InputError(
            f"y_true: cases of {label_text(pos_label)!r} and others were expected, found {int(positive.sum())} of the "
            f"one and {int((~positive).sum())} of the others."
        )
    axes = _roc_axes(roc_curve(positive, score, sample_weight=weight), ax, "others", label_text(pos_label))
    return tidy(axes, "lower right")


def _roc_axes(curve: tuple[Any, ...], ax: Axes | None, negative: str, positive: str) -> Axes:
    """Draw false and true rates with their area and the line of chance."""
    from sklearn.metrics import auc

    axes = axes_for(ax)
    axes.plot([0, 1], [0, 1], color=LINE, lw=1)
    axes.plot(*curve[:2], color=FIRST, lw=1.8, label=f"model, area {auc(*curve[:2]):.3f}")
    called = f"called {positive}"
    axes.set(xlabel=f"share of {negative} {called}", ylabel=f"share of {positive} {called}")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    return axes


def plot_operating_point(point: PointOfCurve, ax: Axes | None = None) -> Axes:
    """Draw a ROC curve with its operating point of least cost; through it runs the line of equal cost.

    Parameters
    ----------
    point : OperatingPoint
        As `metrics.operating_point` returns it.
    ax
        As in `plot_calibration`, and returned as there.
    """
    axes = _roc_axes(point.curve, ax, point.negative, point.positive)
    at = (point.false_rate, point.true_rate)
    if math.isfinite(point.slope):
        axes.axline(at, slope=point.slope, color=QUIET, lw=1, ls="--", label="equal cost")
    where = f"score from {point.threshold:.3g}" if math.isfinite(point.threshold) else "nothing called positive"
    axes.plot(*at, "o", color=SECOND, ms=9, label=f"least cost: {two_digits(point.cost)} a case, {where}")
    return tidy(axes, "lower right")


def plot_cost_curve(curve: CostsOfModels, ax: Axes | None = None) -> Axes:
    """Draw the cost of models over one exchange rate, with break-even points and the elicited ratio.

    Parameters
    ----------
    curve : CostCurve
        As `metrics.cost_curve` returns it.
    ax
        As in `plot_calibration`.

    Returns
    -------
    matplotlib Axes
        Where it was drawn; the ratio is on a logarithmic axis.
    """
    axes = axes_for(ax)
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
    return tidy(axes, "upper left")


_HUES = (FIRST, SECOND, QUIET, INK)


class NetBenefits(Protocol):
    """A decision curve, as far as it is drawn."""

    @property
    def thresholds(self) -> Floats:
        """Return the thresholds."""

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names."""

    @property
    def net_benefit(self) -> Floats:
        """Return the net benefit of each model at each threshold."""

    @property
    def treat_all(self) -> Floats:
        """Return that of treating everybody."""

    @property
    def prevalence(self) -> float:
        """Return the share of positive cases."""

    @property
    def positive(self) -> str:
        """Return the name of the positive class."""


class Named(Protocol):
    """A policy, as far as its name goes."""

    @property
    def name(self) -> str:
        """Return what it is called."""


class CurvesOfPolicies(Protocol):
    """Policies over a ratio, as far as they are drawn."""

    @property
    def mistake(self) -> str:
        """Return whose ratio varies."""

    @property
    def ratios(self) -> Floats:
        """Return the ratios."""

    @property
    def policies(self) -> Sequence[Named]:
        """Return the policies."""

    @property
    def cost(self) -> Floats:
        """Return their costs at each ratio."""

    @property
    def probability_best(self) -> Floats:
        """Return how probably each is best at each ratio."""

    @property
    def elicited(self) -> float:
        """Return the ratio that was elicited."""

    @property
    def plausible(self) -> tuple[float, float] | None:
        """Return its 90 % range, or None."""


def plot_decision_curve(curve: NetBenefits, ax: Axes | None = None, shaded: tuple[float, float] | None = None) -> Axes:
    """Draw net benefit over thresholds.

    Parameters
    ----------
    curve : DecisionCurve
        As `metrics.decision_curve` returns it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    shaded : tuple of float, optional
        A range of thresholds to shade.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.
    """
    axes = axes_for(ax)
    for place, (name, benefit) in enumerate(zip(curve.models, curve.net_benefit, strict=True)):
        axes.plot(curve.thresholds, benefit, **_look(place), label=name)
    axes.plot(
        curve.thresholds, curve.treat_all, color=QUIET, lw=1.2, ls=":", label=f"everybody called {curve.positive}"
    )
    axes.axhline(0.0, color=INK, lw=1.2, label="nobody")
    if shaded is not None and shaded[0] == shaded[1]:
        axes.axvline(shaded[0], color=SECOND, lw=1.2, ls="--", label="by the costs")
    elif shaded is not None:
        axes.axvspan(*shaded, color=LINE, alpha=0.5, lw=0, label="fits the answers")
    axes.set(xlabel="threshold: called from this probability", ylabel="net benefit per case")
    axes.set(ylim=(-0.1 * curve.prevalence, 1.1 * curve.prevalence))
    return tidy(axes, "upper right")


def plot_acceptability(curves: CurvesOfPolicies, ax: Axes | None = None) -> Axes:
    """Draw the probability of each policy being best over the ratio.

    Parameters
    ----------
    curves : PolicyCurves
        As `metrics.policy_curves` returns them.
    ax
        As in `plot_decision_curve`, and returned as there.
    """
    axes = _over_ratio(curves, curves.probability_best, ax)
    axes.set(ylim=(0, 1), ylabel="probability of being best")
    return tidy(axes, "upper left")


def plot_policy_costs(curves: CurvesOfPolicies, ax: Axes | None = None) -> Axes:
    """Draw the costs of the policies over the ratio; see `plot_acceptability`."""
    axes = _over_ratio(curves, curves.cost, ax)
    axes.set(ylim=(0, None), ylabel="mean cost per case, in units of the yardstick")
    return tidy(axes, "upper left")


def _over_ratio(curves: CurvesOfPolicies, values: Floats, ax: Axes | None) -> Axes:
    axes, scale = axes_for(ax), LogAxis(float(curves.ratios[0]), float(curves.ratios[-1]))
    for place, (policy, line) in enumerate(zip(curves.policies, values, strict=True)):
        axes.plot(curves.ratios, line, **_look(place), label=policy.name)
    if curves.plausible is not None:
        low, high = max(curves.plausible[0], scale.low), min(curves.plausible[1], scale.high)
        axes.axvspan(low, high, color=LINE, alpha=0.5, lw=0, label="plausible")
    if 0 < curves.elicited < math.inf:
        axes.axvline(curves.elicited, color=INK, lw=1.2, ls=":", label=f"elicited: {two_digits(curves.elicited)}")
    axes.set_xscale("log")
    axes.set_xticks(scale.ticks(), map(two_digits, scale.ticks()))
    axes.set_xticks([], minor=True)
    axes.set(xlim=(scale.low, scale.high))
    axes.set_xlabel(f"{curves.mistake}: counts as so many of the yardstick")
    return axes


def _look(place: int) -> dict[str, Any]:
    return {"color": _HUES[place % len(_HUES)], "ls": _STYLES[place // len(_HUES) % len(_STYLES)], "lw": 1.6}
