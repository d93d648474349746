"""What is not known: ends of ranges that no question reaches or the prior decides, and what it means for a choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from elicit_app.elicitation.belief import ENDS, Posterior, memory_slices
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


def open_ends(posterior: Posterior, widest: Matrix) -> tuple[Matrix, tuple[tuple[float, float] | None, ...]]:
    """Return the ends of the ratios to the yardstick, left open where no question could reach.

    A question reaches an end by trading the mistake for the yardstick, or for one whose own end is reached; and never
    one beyond the widest trade of all.

    Parameters
    ----------
    posterior : Posterior
        The belief.
    widest : ndarray of shape (m,)
        How many of each mistake, at most, could be traded for one of another.

    Returns
    -------
    ends : ndarray of shape (2, m)
        90 % intervals of weight over yardstick: the low end 0, or the high end inf, where no question reaches it.
    bounded : tuple
        Per weight None, or (low, high) if an end is open.
    """
    low, high = posterior.ratio_ends.copy()
    yardstick, any_rate = posterior.yardstick, widest.max()
    lowest, most = 1.0, widest[yardstick]
    for place in np.argsort(-low):  # shown by many of this mistake for one that weighs more
        if place != yardstick and (low[place] * widest[place] < lowest or low[place] * any_rate < 1.0):
            low[place] = 0.0
        else:
            lowest = min(lowest, low[place])
    for place in np.argsort(high):  # shown by one of this mistake for many that weigh less
        if place != yardstick and high[place] > min(most, any_rate):
            high[place] = np.inf
        else:
            most = max(most, high[place] * widest[place])
    ends = np.stack([low, high])
    is_open = (low == 0.0) | np.isinf(high)
    return ends, tuple(
        (float(a), float(b)) if any_open else None for a, b, any_open in zip(*ends, is_open, strict=True)
    )


def reliance_on_prior(posterior: Posterior, ends: Matrix) -> float:
    """Return the largest factor by which an end of a range would move if costs were expected to vary 1.5 times as much.

    Parameters
    ----------
    posterior : Posterior
        The belief.
    ends : ndarray of shape (2, m)
        Ends as `open_ends` returns them; those that are open anyway do not count.
    """
    logs = posterior.log_weights
    odds = posterior.prior.log_odds_of_wider(logs, _WIDER)
    share = np.exp(odds - odds.max())
    moved = [0.0]
    for ratios, (low, high) in zip(posterior.log_ratios.T, ends.T, strict=True):
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
