"""Costs of policies and their probabilities of being best, over one exchange rate that the decisions follow.

The probability that a policy is best, as a function of the ratio, is the cost-effectiveness acceptability curve of
health economics (B. van Hout and others, "Costs, effects and C/E-ratios alongside a clinical trial", Health Economics
3, 1994).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import InParts, completed
from metrics.drawing import LogAxis, axes_for, line_style, set_ratio_axis, tidy
from metrics.elicited.exchange import ExchangeRate, exchange_rates, rate_of
from metrics.errors import InputError
from metrics.inputs.arguments import Floats, number_array, whole_number
from metrics.measures.costs import cost_sensitive_decisions
from metrics.policies.cases import PRACTICE, Policy, Practice, always, case_table
from metrics.policies.costs import UnitCosts, policy_costs
from metrics.policies.judging import ModelPolicies, models_of
from metrics.policies.ranking import share_best

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metrics.elicited.elicited_metric import ElicitedMetric


_SMOOTH = 1.1
_STEP = 1.04  # so that a range of a tenth to either side holds five ratios
_REACH = 5.0


@dataclass(frozen=True, eq=False)
class PolicyCurves:
    """Costs and probabilities of policies over the ratio of one mistake to the yardstick.

    Parameters
    ----------
    mistake : str
        Name of the mistake whose ratio varies.
    ratios : ndarray of shape (r,)
        Ascending, evenly spaced on a log scale.
    policies : tuple of Policy
        p policies; those that decide with the costs follow the ratio.
    cost : ndarray of shape (p, r)
        Mean cost per case, in units of the yardstick.
    probability_best : ndarray of shape (p, r)
        Over draws of the cases, averaged over ratios within a tenth on either side, because the curve is jagged as the
        threshold passes single cases.
    elicited : float
        The metric's ratio.
    plausible : tuple of float or None
        Its 90 % range.
    """

    mistake: str
    ratios: Floats
    policies: tuple[Policy, ...]
    cost: Floats
    probability_best: Floats
    elicited: float
    plausible: tuple[float, float] | None

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each policy's probability of being best on `ax` or on a new figure, and return the axes."""
        axes = self._over_ratio(self.probability_best, ax)
        axes.set(ylim=(0, 1), ylabel="probability of being best")
        return tidy(axes, "upper left")

    def plot_cost(self, ax: Axes | None = None) -> Axes:
        """Draw the costs of the policies on `ax` or on a new figure, and return the axes."""
        axes = self._over_ratio(self.cost, ax)
        axes.set(ylim=(0, None), ylabel="mean cost per case, in units of the yardstick")
        return tidy(axes, "upper left")

    def _over_ratio(self, values: Floats, ax: Axes | None) -> Axes:
        axes, scale = axes_for(ax), LogAxis(float(self.ratios[0]), float(self.ratios[-1]))
        for index, (policy, line) in enumerate(zip(self.policies, values, strict=True)):
            axes.plot(self.ratios, line, **line_style(index), label=policy.name)
        set_ratio_axis(axes, scale, self.mistake, self.elicited, self.plausible)
        return axes


def policy_curves(
    metric: ElicitedMetric,
    y_true: ArrayLike,
    y_proba: Mapping[str, ArrayLike],
    mistake: tuple[object, object] | None = None,
    *,
    labels: Sequence[object] | None = None,
    groups: ArrayLike | None = None,
    ratios: ArrayLike | None = None,
    prevalence: ArrayLike | Mapping[Any, float] | None = None,
    practice: ArrayLike | None = None,
    draws: int = 1_000,
    seed: int = 0,
) -> PolicyCurves:
    """Return the costs of policies and their probabilities of being best, as the cost of one mistake varies.

    The policies are those of `judge`, including a recalibrated or corrected one.

    Parameters
    ----------
    metric : ElicitedMetric
        Gives the other costs, at its estimate.
    y_true, y_proba, labels, groups
        True labels, probabilities by model, labels of their columns, and whose case each is, as in `judge`.
    mistake : tuple, optional
        (true, predicted), as labels; or as indices as in `exchange_rates`, if they are not both labels. By default
        the mistake with the largest ratio.
    ratios : array-like of shape (r,), optional
        Ratios in ascending order, > 0; by default from a fifth of the smallest to five times the largest plausible
        ratio.
    prevalence : array-like of shape (k,) or mapping of label to share, optional
        Stated shares of the true classes.
    practice : array-like of shape (k, k), optional
        Counts or rates of present practice, as in `judge`; it is one more policy.
    draws, seed
        Draws of the cases; see `policy_costs`.

    Raises
    ------
    InputError
        As for `judge`; also if the mistake is the yardstick or unknown, or the ratios are not ascending and > 0.
    """
    others = [rate for rate in exchange_rates(metric) if not rate.is_yardstick]
    rate = max(others, key=lambda rate: rate.ratio) if mistake is None else rate_of(metric, mistake)
    whole_number(draws, "draws", 1)
    true, models, people = models_of(metric, y_true, y_proba, labels, groups, prevalence)
    today = None if practice is None else Practice.of(metric.matrix_of(practice, "practice"), metric.classes)
    found = curves_of_models(
        metric, true, models, rate, people, ratios=ratios, prevalence=prevalence, practice=today, draws=draws, seed=seed
    )
    return completed(found)


def curves_of_models(
    metric: ElicitedMetric,
    true: NDArray[np.int64],
    models: Sequence[tuple[ModelPolicies, Floats]],
    rate: ExchangeRate,
    people: NDArray[np.int64] | None = None,
    *,
    ratios: ArrayLike | None = None,
    prevalence: ArrayLike | Mapping[Any, float] | None = None,
    practice: Practice | None = None,
    draws: int = 1_000,
    seed: int = 0,
) -> InParts[PolicyCurves]:
    """Return, computed in parts, `policy_curves` for models of known calibration and a mistake of known exchange rate.

    The cases may be of numbered people, (n,). Decisions change in few classes from one ratio to the next; only those
    classes are drawn again.
    """
    costs, at = UnitCosts.estimated(metric), _ratios(rate, ratios)
    columns = [one for model, proba in models for one in model.deciding(proba, people=people)]
    policies, others = [policy for policy, _ in columns], always(metric.classes)
    if practice is not None:
        others = (*others, Policy(PRACTICE, "practice"))
    as_now = {policy: proba.argmax(axis=1) for policy, proba in columns if policy.decides == "as-is"}
    cost, best, before = [], [], None
    for ratio in at:
        matrix = np.where(rate.cells(len(metric.classes)), ratio, costs.estimate)
        decided = [
            as_now[policy] if policy in as_now else cost_sensitive_decisions(proba, matrix) for policy, proba in columns
        ]
        table = case_table(true, decided, len(matrix), people)
        found = policy_costs(
            UnitCosts(costs.unit, matrix, None),
            table,
            policies,
            others,
            practice,
            draws=draws,
            seed=seed,
            before=before,
        )
        before = table, found
        own = found.shares_at(prevalence, metric.class_index)
        shares = found.shares if prevalence is None else np.broadcast_to(own, found.shares.shape)
        cost.append(own @ found.estimate)
        unshown, _ = found.unshown_costs(int(cost[-1].argmin()), shares)
        best.append(share_best(found.drawn_from_cases(shares) - unshown))
        yield
    return PolicyCurves(
        mistake=rate.mistake.name,
        ratios=at,
        policies=(*others, *policies),
        cost=np.array(cost).T,
        probability_best=_smoothed(at, np.array(best).T),
        elicited=rate.ratio,
        plausible=None if rate.low is None or rate.high is None else (rate.low, rate.high),
    )


def _ratios(rate: ExchangeRate, wanted: ArrayLike | None) -> Floats:
    if wanted is not None:
        ratios = number_array(wanted, "ratios")
        if ratios.ndim != 1 or not len(ratios) or (ratios <= 0).any() or (np.diff(ratios) <= 0).any():
            raise InputError("ratios: ascending numbers above 0 were expected.")
        return ratios
    ends = [end for end in (rate.low, rate.ratio, rate.high) if end and np.isfinite(end)] or [1.0]
    low, high = min(ends) / _REACH, max(ends) * _REACH
    return np.geomspace(low, high, 1 + math.ceil(math.log(high / low) / math.log(_STEP)))


def _smoothed(ratios: Floats, shares: Floats) -> Floats:
    near = np.abs(np.log(ratios[:, None] / ratios)) <= np.log(_SMOOTH) * (1 + 1e-9)
    return np.asarray(shares @ near.T / near.sum(axis=1))
