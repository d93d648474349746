"""How closely a published search can tell a ratio: its tolerance, and what its query space leaves open.

A belief has draws for that; a search has ranges of ratios (DLPM) or intervals of angles (LPM).
"""

from __future__ import annotations

import numpy as np

from elicit_app.elicitation.questions import Matrix, Outcome


def cost_intervals(outcome: Outcome, yardstick: tuple[int, int]) -> Matrix | None:
    """Return 90 % intervals of the costs: those of the outcome, or from what a published search tells about ratios.

    A search knows ratios only, so its intervals are in the scale in which the yardstick's cost is exact.

    Parameters
    ----------
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

    family, tolerance = family_of(outcome.family), outcome.tolerance
    costs = family.costs(outcome.weights)
    unit, cost = family.index(*yardstick, len(costs)), costs[yardstick]
    if tolerance is None or not cost > 0:
        return intervals_around(costs, outcome.intervals)
    low, high = (family.on_errors(ends[:, unit] * cost) for ends in (tolerance.low, tolerance.high))
    low[yardstick] = high[yardstick] = cost
    return intervals_around(costs, np.stack([low, high], axis=-1))
