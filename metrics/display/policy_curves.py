"""Curves of what one could do: net benefit over thresholds, costs and probability of being best over a ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metrics.display.axes import FIRST, INK, LINE, QUIET, SECOND, LogAxis, axes_for, tidy
from metrics.display.numbers import two_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_HUES, _STYLES = (FIRST, SECOND, QUIET, INK), ("-", "--", "-.", ":")


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
    if shaded is not None:
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
