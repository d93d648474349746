"""Random matrices that the models of a study can achieve: what agreement and regret are judged on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.questions import Matrix
from elicit_app.elicitation.sphere import Sphere

# Numbers held at once, so that a block of decisions stays in the cache.
_BLOCK = 1 << 16


class Achievable(Protocol):
    """A source of random achievable matrices."""

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k)."""


class ModelDecisions:
    """A random model's decisions of least expected cost under C_ij = exp(1.5 N(0, 1)), counted.

    Parameters
    ----------
    cases : sequence of Cases
        One per model, or one law.
    """

    def __init__(self, cases: Sequence[Cases]) -> None:
        self.cases = tuple(cases)

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k)."""
        k = self.cases[0].n_classes
        which = rng.integers(len(self.cases), size=n)
        costs = np.exp(1.5 * rng.standard_normal((n, k, k)))
        costs[:, np.arange(k), np.arange(k)] = 0.0
        matrices = np.empty((n, k, k))
        for index, cases in enumerate(self.cases):
            chosen = np.flatnonzero(which == index)
            if len(chosen):
                matrices[chosen] = least_costs(cases, costs[chosen])
        return matrices


class LowerBoundary:
    """Points of the sphere whose direction a has no positive part, uniformly.

    Parameters
    ----------
    sphere : Sphere
        The query space.
    """

    def __init__(self, sphere: Sphere) -> None:
        self.sphere = sphere

    def draw(self, n: int, rng: np.random.Generator) -> Matrix:
        """Return n matrices of rates, shape (n, k, k)."""
        k = self.sphere.n_classes
        a = -np.abs(rng.standard_normal((n, k * (k - 1))))
        a /= np.linalg.norm(a, axis=1, keepdims=True)
        return np.array([self.sphere.point(one) for one in a])


def least_costs(cases: Cases, costs: Matrix) -> Matrix:
    """Return the matrices (m, k, k) of the decisions of least expected cost under many cost matrices (m, k, k).

    The same as `Cases.least_cost` one by one, many times faster.
    """
    k, n = cases.n_classes, len(cases.weight)
    block = max(1, _BLOCK // n)
    matrices = np.empty((len(costs), k, k))
    for start in range(0, len(costs), block):
        some = costs[start : start + block]
        expected = np.matmul(np.swapaxes(some, 1, 2), cases.eta_by_class)
        least = expected.min(axis=1)
        free = np.ones(least.shape, dtype=bool)
        for j in range(k):
            chosen = free if j == k - 1 else free & (expected[:, j] == least)
            matrices[start : start + block, :, j] = chosen.astype(np.float64) @ cases.gain
            free = free & ~chosen
    return matrices / cases.total
