"""Matrices that could really be had: decisions of least expected cost under many cost matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elicit_app.elicitation.laws import Cases
from elicit_app.elicitation.questions import Matrix
from metrics.classification.confusion import natural_frequencies

_SPREADS = (0.7, 1.5, 3.0)  # of log-costs: near the usual decisions, typical (the second), extreme
_WORK = 4e8  # steps spent on decisions: large studies get a smaller pool
_MOST, _FEWEST = 500, 120
FOOLISH = 200  # the last of the corners


@dataclass(frozen=True, eq=False)
class Pool:
    """Distinct achievable confusion matrices of a study's models.

    Parameters
    ----------
    matrices : ndarray of shape (n, k, k)
        Rates; multiples of 1/population where there is one.
    corners : ndarray of shape (c, k, k)
        Exact rates of decisions under costs of any sign, also foolish ones: what mixtures can be made of.
    typical : ndarray of shape (t, k, k)
        Exact rates of the decisions under typical costs alone, log-normal with a standard deviation of 1.5: what
        agreement is judged on.
    population : int or None
        What the matrices are shown for, or None in the laboratory.
    """

    matrices: Matrix
    corners: Matrix
    typical: Matrix
    population: int | None

    @classmethod
    def of(cls, cases: Sequence[Cases], population: int | None, rng: np.random.Generator) -> Pool:
        """Collect the matrices of random, of extreme and of constant decisions of all models.

        Parameters
        ----------
        cases : sequence of Cases
            One per model, of the same prevalence.
        population : int or None
            Round to natural frequencies of this population.
        rng : numpy.random.Generator
            Source of the cost matrices.
        """
        k = cases[0].n_classes
        work = sum(len(model.weight) for model in cases) / len(cases) * k * k
        size = int(np.clip(_WORK / work, _FEWEST, _MOST))
        found = [cases[0].confusion(np.full(len(cases[0].weight), j)) for j in range(k)]
        found += [model.least_cost(1.0 - np.eye(k)) for model in cases]
        simple = len(found)
        for n in range(size):
            log_cost = _SPREADS[n % len(_SPREADS)] * rng.standard_normal((k, k))
            found.append(cases[int(rng.integers(len(cases)))].least_cost(np.exp(log_cost) * (1 - np.eye(k))))
        rates = np.array(found)
        typical = rates[simple + 1 :: len(_SPREADS)]
        foolish = rng.standard_normal((FOOLISH, k, k)) * np.exp(rng.standard_normal((FOOLISH, k, k)))
        corners = np.concatenate([rates, [cases[n % len(cases)].least_cost(costs) for n, costs in enumerate(foolish)]])
        if population is None:
            return cls(np.unique(np.round(rates, 15), axis=0), corners, typical, None)
        counts = np.unique([natural_frequencies(matrix, population) for matrix in rates], axis=0)
        return cls(counts / population, corners, typical, population)
