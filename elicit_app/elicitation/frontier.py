"""The restricted Bayes-optimal frontier nu(m; k1, k2): classifiers that know two answers and one threshold.

Source: [HBMK19] Hiranandani, Boodaghians, Mehta & Koyejo, "Multiclass Performance Metric Elicitation", NeurIPS 2019,
definition 4 and proposition 2: for a DLPM the best classifier that predicts only k1 or k2 predicts k1 exactly where
a_k1 eta_k1(x) >= a_k2 eta_k2(x).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property

import numpy as np

from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.questions import Matrix


class RestrictedFrontier:
    """All classifiers of two answers k1 and k2 that threshold eta_k1 against eta_k2.

    Cases are sorted once by the least m that turns them to k1; every matrix is then one look-up.

    Parameters
    ----------
    cases : Cases
        What decides, and what is counted.
    k1, k2 : int
        The two classes that are predicted.
    """

    def __init__(self, cases: Cases, k1: int, k2: int) -> None:
        self.cases, self.k1, self.k2 = cases, k1, k2
        both = cases.eta[:, k1] + cases.eta[:, k2]
        # Where neither class is possible, 0 >= 0 holds for every m: predict k1.
        turning = np.divide(cases.eta[:, k2], both, out=np.zeros_like(both), where=both > 0)
        self._order = np.argsort(turning, kind="stable")
        self.thresholds = turning[self._order]

    @cached_property
    def _gathered(self) -> Matrix:
        """Return (n + 1, k): the gain of each true class among the first 0..n cases in order of their threshold."""
        gathered = np.zeros((len(self._order) + 1, self.cases.n_classes))
        np.cumsum(self.cases.gain[self._order], axis=0, out=gathered[1:])
        return gathered

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self._order)

    def position(self, m: float) -> int:
        """Return how many cases are predicted k1 where m * eta_k1 >= (1 - m) * eta_k2; m in [0, 1].

        m = 0 is "always k2" and m = 1 is "always k1", whatever the probabilities.
        """
        if m <= 0:
            return 0
        return len(self) if m >= 1 else int(np.searchsorted(self.thresholds, m, side="right"))

    def lower_position(self, m: float) -> int:
        """Return how many cases are predicted k2 where m * eta_k1 > (1 - m) * eta_k2, the worst decisions for m."""
        if m <= 0:
            return 0
        return len(self) if m >= 1 else int(np.searchsorted(self.thresholds, m, side="left"))

    def matrix_at(self, position: int) -> Matrix:
        """Return the confusion matrix (k, k) that predicts k1 for the first `position` cases, k2 for the others."""
        matrix = np.zeros((self.cases.n_classes, self.cases.n_classes))
        matrix[:, self.k1] = self._gathered[position]
        matrix[:, self.k2] = self._gathered[-1] - self._gathered[position]
        return matrix / self.cases.total

    def __call__(self, m: float) -> Matrix:
        """Return nu(m; k1, k2), the confusion matrix (k, k) in rates, on the upper boundary; m in [0, 1]."""
        return self.matrix_at(self.position(m))

    def lower(self, m: float) -> Matrix:
        """Return the confusion matrix (k, k) of the opposite decisions, on the lower boundary; m in [0, 1]."""
        worst = self.lower_position(m)
        matrix = self.matrix_at(worst)
        matrix[:, [self.k1, self.k2]] = matrix[:, [self.k2, self.k1]]
        return matrix

    def stretch(self, m: float, shown: Callable[[Matrix], Matrix] = np.asarray) -> tuple[float, float]:
        """Return the range of m, within [0, 1], over which nu is the very matrix nu(m): what it cannot tell apart.

        `shown` turns a matrix into what is looked at, where that is coarser than the rates.
        """
        position = self.position(m)
        here = shown(self.matrix_at(position))

        def same(other: int) -> bool:
            return np.array_equal(shown(self.matrix_at(other)), here)

        # Counts only grow along the frontier, so that equal matrices stand together.
        first = bisect_left(range(position), True, key=same)
        last = position + bisect_left(range(position + 1, len(self) + 1), True, key=lambda other: not same(other))
        lowest = 0.0 if first == 0 else float(self.thresholds[first - 1])
        highest = 1.0 if last == len(self) else float(self.thresholds[last])
        return lowest, highest
