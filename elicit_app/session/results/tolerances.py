"""How closely a published search can tell a ratio: its tolerance, and what its query space leaves open.

A belief has draws for that; a search has ranges of ratios (DLPM) or intervals of angles (LPM).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elicit_app.elicitation.questions import Matrix, Outcome, Procedure

Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Tolerance:
    """What a search tells about the ratio of two weights.

    Parameters
    ----------
    low, high : ndarray of shape (n, n)
        Entry (i, j): the range of weight i over weight j; `high` may be inf.
    bounded : ndarray of bool, shape (n, n)
        No question of the query space could tell more than that.
    """

    low: Matrix
    high: Matrix
    bounded: Matrix


def tolerance_of(procedure: Procedure, outcome: Outcome) -> Tolerance | None:
    """Return what a published search tells about ratios; None for a procedure with draws, or one that was cut short."""
    from elicit_app.elicitation.procedures.dlpm import Dlpm
    from elicit_app.elicitation.procedures.lpm import Lpm

    if type(procedure) is Dlpm:
        return _of_frontier(outcome, procedure.rules.epsilon)
    if type(procedure) is Lpm and outcome.stopped in ("tolerance", "cycles"):
        return _of_angles(outcome, procedure.rules.epsilon)
    return None


def cost_intervals(procedure: Procedure, outcome: Outcome, yardstick: tuple[int, int]) -> Matrix | None:
    """Return 90 % intervals of the costs: those of the outcome, or from what a published search tells about ratios.

    A search knows ratios only, so its intervals are in the scale in which the yardstick's cost is exact.

    Parameters
    ----------
    procedure : Procedure
        Who asked.
    outcome : Outcome
        What was learned.
    yardstick : tuple of int
        (true, predicted) of the mistake that others are compared with.

    Returns
    -------
    ndarray of shape (k, k, 2) or None
        As `ElicitedMetric` takes them.
    """
    from metrics.elicited.family import family_of
    from metrics.elicited.metric_parts import intervals_around

    family, tolerance = family_of(outcome.family), tolerance_of(procedure, outcome)
    costs = family.costs(outcome.weights)
    unit, cost = family.index(*yardstick, len(costs)), costs[yardstick]
    if tolerance is None or not cost > 0:
        return intervals_around(costs, outcome.intervals)
    low, high = (family.on_errors(ends[:, unit] * cost) for ends in (tolerance.low, tolerance.high))
    low[yardstick] = high[yardstick] = cost
    return intervals_around(costs, np.stack([low, high], axis=-1))


def _of_frontier(outcome: Outcome, epsilon: float) -> Tolerance:
    """Return the ratios to the first class that the answers allow, and from them those to any other class."""
    searched, allowed = outcome.details["intervals"], outcome.details["ratios"]
    assert isinstance(searched, dict)
    assert isinstance(allowed, dict)
    ranges, open_ended = [(1.0, 1.0)], [False]
    for key, (low, high) in allowed.items():
        ranges.append((low, high))
        a, b = searched[key]
        # In terms of m = a_1 / (a_1 + a_i), whose search ended within epsilon.
        left_open = 1 / (1 + low) - 1 / (1 + high) - (b - a)
        open_ended.append(low == 0.0 or math.isinf(high) or left_open > epsilon)
    least, most = np.array(ranges).T
    with np.errstate(divide="ignore", invalid="ignore"):
        low_over = np.nan_to_num(least[:, None] / most[None, :], nan=0.0)
        high_over = np.nan_to_num(most[:, None] / least[None, :], nan=math.inf, posinf=math.inf)
    either = np.array(open_ended)[:, None] | np.array(open_ended)[None, :]
    # Cut short by the expert, more questions could have told more.
    return Tolerance(low_over, high_over, either & (outcome.stopped in ("tolerance", "bounded")))


def _of_angles(outcome: Outcome, epsilon: float) -> Tolerance:
    """Return ratios when every angle may be off by half of epsilon (HBMK19, theorem 2, to first order)."""
    from elicit_app.elicitation.sphere import direction

    theta = np.array(outcome.details["angles"], dtype=float)
    weights = np.abs(outcome.weights)
    log = np.log(np.maximum(weights, np.finfo(float).tiny))
    spread = np.zeros((len(log), len(log)))
    for j in range(len(theta)):
        off = theta.copy()
        off[j] += epsilon / 2
        moved = np.log(np.maximum(np.abs(direction(off)), np.finfo(float).tiny)) - log
        spread += np.abs(moved[:, None] - moved[None, :])
    ratio = log[:, None] - log[None, :]
    with np.errstate(over="ignore"):
        low, high = np.exp(ratio - spread), np.exp(ratio + spread)
    return Tolerance(low, high, np.zeros_like(spread, dtype=bool))
