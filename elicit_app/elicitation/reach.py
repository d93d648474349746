"""What questions can show: the widest trades of each mistake, and the ends of ranges that none of them reaches."""

from __future__ import annotations

import numpy as np

from elicit_app.elicitation.belief import Posterior, memory_slices
from elicit_app.elicitation.pool import SAME
from elicit_app.elicitation.questions import Matrix


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
    (low, high), yardstick = posterior.ratio_ends, posterior.yardstick
    others = np.arange(len(widest)) != yardstick
    # A low end is shown by many of the mistake for one yardstick mistake, a high one the other way round.
    low = np.where(others & (low * widest < 1.0), 0.0, low)
    high = np.where(others & (high > widest[yardstick]), np.inf, high)
    ends = np.stack([low, high])
    is_open = (low == 0.0) | np.isinf(high)
    return ends, tuple(
        (float(a), float(b)) if any_open else None for a, b, any_open in zip(*ends, is_open, strict=True)
    )
