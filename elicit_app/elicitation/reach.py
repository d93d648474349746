"""What is not known: ends of ranges that no question reaches or the prior decides, and what it means for a choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_app.elicitation.belief import ENDS, Posterior, ends_of_ratios, memory_slices
from elicit_app.elicitation.pool import SAME
from elicit_app.elicitation.questions import Matrix

_WIDER = 1.5  # times as much as log-costs are expected to vary; see `reliance_on_prior`


def widest_rates(gains: Matrix) -> Matrix:
    """Return how many of each mistake, at most, are traded for one of another in pairs, gains (n, m); shape (m,).

    Only pairs that trade two mistakes count; 0 for a mistake that none of them trades.
    """
    widest = np.zeros(gains.shape[1])
    for some in memory_slices(*gains.shape):
        amounts = np.abs(gains[some])
        amounts = amounts[(amounts > SAME).sum(axis=1) == 2]
        pair, mistake = np.nonzero(amounts > SAME)
        traded = amounts[pair, mistake].reshape(-1, 2)
        np.maximum.at(widest, mistake.reshape(-1, 2), traded / traded[:, ::-1])
    return widest


@dataclass(frozen=True, eq=False)
class Ranges:
    """90 % ranges of the ratios of all weights to one of them, left open where no question could reach.

    Parameters
    ----------
    unit : int
        The weight to which the ratios are.
    ends : ndarray of shape (2, m)
        Low and high ends: 0 or inf where no question reaches them.
    """

    unit: int
    ends: Matrix

    @property
    def are_open(self) -> NDArray[np.bool_]:
        """Return which of them have an open end, shape (m,)."""
        return np.asarray((self.ends[0] == 0.0) | np.isinf(self.ends[1]))

    @property
    def bounded(self) -> tuple[tuple[float, float] | None, ...]:
        """Return per weight None, or (low, high) if an end is open."""
        is_open, ends = self.are_open.tolist(), self.ends.T.tolist()
        return tuple((low, high) if either else None for (low, high), either in zip(ends, is_open, strict=True))


def ranges_reached(posterior: Posterior, widest: Matrix, unit: int) -> Ranges:
    """Return the ranges of the ratios to one weight.

    A question reaches an end by trading the mistake for the unit, or for one whose own end is reached; and never one
    beyond the widest trade of all.

    Parameters
    ----------
    posterior : Posterior
        The belief.
    widest : ndarray of shape (m,)
        How many of each mistake, at most, could be traded for one of another.
    unit : int
        The weight to which the ratios are.
    """
    kept = unit == posterior.yardstick
    low, high = posterior.ratio_ends.copy() if kept else ends_of_ratios(posterior.ratio_log_weights, unit)
    any_rate = widest.max()
    lowest, most = 1.0, widest[unit]
    for place in np.argsort(-low):  # shown by many of this mistake for one that weighs more
        if place != unit and (low[place] * widest[place] < lowest or low[place] * any_rate < 1.0):
            low[place] = 0.0
        else:
            lowest = min(lowest, low[place])
    for place in np.argsort(high):  # shown by one of this mistake for many that weigh less
        if place != unit and high[place] > min(most, any_rate):
            high[place] = np.inf
        else:
            most = max(most, high[place] * widest[place])
    return Ranges(unit, np.stack([low, high]))


def reliance_on_prior(posterior: Posterior, ranges: Ranges) -> float:
    """Return the largest factor by which an end would move if costs were expected to vary 1.5 times as much.

    Ends that are open anyway do not count.
    """
    odds = posterior.prior.log_odds_of_wider(posterior.log_weights, _WIDER)
    share = np.exp(odds - odds.max())
    log_ratios = posterior.ratio_log_weights - posterior.ratio_log_weights[:, [ranges.unit]]
    moved = [0.0]
    for ratios, (low, high) in zip(log_ratios.T, ranges.ends.T, strict=True):
        order = np.argsort(ratios)
        below = np.cumsum(share[order])
        lower, upper = ratios[order[np.searchsorted(below, np.array(ENDS) * below[-1])]]
        moved += [np.log(low) - lower] if low > 0 else []
        moved += [upper - np.log(high)] if np.isfinite(high) else []
    return float(np.exp(max(moved)))


class PolicyDoubt(NamedTuple):
    """How the choice of a policy depends on what is not known of the values.

    Parameters
    ----------
    same : float
        Probability that the same policy would be chosen if the values were known and every policy tuned to them.
    loss : float
        Expected saving by choosing then, as a share of the cost of the policy chosen now, tuned as well.
    anew : float
        Expected saving by choosing and by deciding every case then, as a share of the cost of what is decided now.
    """

    same: float
    loss: float
    anew: float


def doubt_of_policies(decided_by: Callable[[Matrix], Matrix], estimate: Matrix, draws: Sequence[Matrix]) -> PolicyDoubt:
    """Return how the choice of a policy depends on the values, from draws (k, k) of the costs and their estimate.

    `decided_by` returns the matrices (n, k, k) of all policies under given costs, always in the same order. Knowing the
    values would move the thresholds of all policies, so that another model's policy might become the best.
    """
    now = decided_by(estimate)
    chosen = now[place := int((now * estimate).sum(axis=(1, 2)).argmin())]
    known = np.array([(decided_by(costs) * costs).sum(axis=(1, 2)) for costs in draws])
    tuned, least = known[:, place], known.min(axis=1)

    def saving(costs: Matrix) -> float:
        return float((costs - least).mean() / costs.mean()) if costs.any() else 0.0

    as_now = np.array([(chosen * costs).sum() for costs in draws])
    return PolicyDoubt(float((tuned - least <= SAME).mean()), saving(tuned), saving(as_now))
