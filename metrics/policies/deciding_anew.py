"""What decisions would save if they followed other values: a threshold moves with the costs.

The value of information compares policies whose decisions stay as they are at the estimated costs. Who knew the values
would also decide by them, case by case.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metrics.batches import in_threads
from metrics.inputs.arguments import Floats
from metrics.measures.costs import least_cost_decisions
from metrics.policies.cases import Policy

_DRAWS, _FEWEST_DRAWS = 100, 20
_FEW_CLASSES = 10  # with more, fewer draws keep the time within that of the bootstrap
_MOST_OF_CLASS, _FEWEST_OF_CLASS = 40_000, 100  # the first divided by the square of the number of classes


def enough_draws(k: int) -> int:
    """Return how many draws of the costs of k classes are enough for a mean over them."""
    return max(_FEWEST_DRAWS, _DRAWS * _FEW_CLASSES // max(k, _FEW_CLASSES))


def savings_of_deciding_anew(
    draws: Floats, estimate: Floats, true: NDArray[np.int64], columns: Sequence[tuple[Policy, Floats]]
) -> Floats:
    """Return the mean saving per case if the decisions follow each draw of the costs, by true class.

    It is negative where such decisions cost more, as those by badly calibrated probabilities may.

    Parameters
    ----------
    draws : ndarray of shape (s, k, k)
        Draws of the costs.
    estimate : ndarray of shape (k, k)
        Costs that the policies decide by.
    true : ndarray of shape (n,)
        Indices of the true classes.
    columns : sequence of (Policy, ndarray of shape (n, k))
        The policies and the probabilities that each decides by.

    Returns
    -------
    ndarray of shape (s, k, p)
        In units of the draws; 0 for policies that do not decide by the costs, and for classes without cases.
    """
    k = len(estimate)
    of_all = draws.transpose(1, 0, 2).reshape(k, -1)
    found = np.zeros((len(draws), k, len(columns)))
    rows = [_some(np.flatnonzero(true == label), k) for label in range(k)]
    least_cost = [place for place, (policy, _) in enumerate(columns) if policy.decides == "least-cost"]

    def fill(task: tuple[int, int]) -> None:
        place, label = task
        proba = columns[place][1][rows[label]]
        if not len(proba):
            return
        now = least_cost_decisions(proba, estimate)
        anew = (proba @ of_all).reshape(len(proba), len(draws), k).argmin(axis=2)
        costs = draws[:, label]
        found[:, label, place] = (costs[:, now] - np.take_along_axis(costs, anew.T, axis=1)).mean(axis=1)

    in_threads(fill, [(place, label) for place in least_cost for label in range(k)])
    return found


def _some(rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return evenly spaced rows of one class, so that rare classes keep all of theirs."""
    most = max(_FEWEST_OF_CLASS, _MOST_OF_CLASS // k**2)
    return rows[:: max(1, -(-len(rows) // most))]
