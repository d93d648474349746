"""How good an elicited metric is: agreement and regret on achievable matrices, errors of the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elicit_app.elicitation.questions import Matrix
from elicit_app.experiments.achievable import Achievable
from elicit_app.experiments.truths import Metric, Values
from elicit_app.problem import Problem

N_PAIRS = 2000
_MOST_DRAWS = 200
# Utilities that differ by less than this share of their size are the same: sums in another order.
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Random pairs of achievable matrices that the true metric tells apart.

    Parameters
    ----------
    first, second : ndarray of shape (n, k, k)
        Rates.
    differences : ndarray of shape (n,)
        True u(first) - u(second), never 0.
    """

    first: Matrix
    second: Matrix
    differences: Matrix

    @classmethod
    def draw(cls, truth: Values, achievable: Achievable, rng: np.random.Generator, n: int = N_PAIRS) -> JudgedPairs:
        """Draw pairs; those that are equal under the truth are drawn again.

        Raises
        ------
        Problem
            Hardly any two achievable matrices differ.
        """
        kept: list[tuple[Matrix, Matrix, Matrix]] = []
        missing = n
        for _ in range(_MOST_DRAWS):
            matrices = achievable.draw(2 * missing, rng)
            first, second = matrices[0::2], matrices[1::2]
            differences = _differences(truth, first, second)
            told = differences != 0
            kept.append((first[told], second[told], differences[told]))
            missing -= int(told.sum())
            if missing == 0:
                return cls(*(np.concatenate(part) for part in zip(*kept, strict=True)))
        raise Problem(
            "The true metric hardly tells any two decisions of these models apart: there is nothing to judge."
        )

    def agreement(self, elicited: Values) -> float:
        """Return the share of pairs on which a metric prefers the same side as the truth; a tie counts one half."""
        sides = np.sign(_differences(elicited, self.first, self.second)) * np.sign(self.differences)
        return float(np.mean((sides + 1) / 2))

    def regret(self, truth: Values, elicited: Values) -> float:
        """Return (u(best) - u(chosen)) / (u(best) - u(worst)), u the truth, over all matrices of the pairs."""
        matrices = np.concatenate([self.first, self.second])
        utility = truth(matrices)
        chosen = utility[elicited(matrices).argmax()]
        return float((utility.max() - chosen) / (utility.max() - utility.min()))

    @property
    def typical_difference(self) -> float:
        """Return the median size of the true differences."""
        return float(np.median(np.abs(self.differences)))

    def sensitivity(self, accuracy: float) -> float:
        """Return the s at which P(right) = 1 / (1 + exp(-s |u(X) - u(Y)|)) has this mean over the pairs.

        Parameters
        ----------
        accuracy : float
            In (0.5, 1).
        """
        sizes = np.abs(self.differences)
        low, high = -60.0, 60.0  # log2 of s times the typical difference
        for _ in range(100):
            middle = (low + high) / 2
            right = 1 / (1 + np.exp(-np.minimum(2.0**middle * sizes / self.typical_difference, 700)))
            low, high = (middle, high) if right.mean() < accuracy else (low, middle)
        return float(2.0 ** ((low + high) / 2) / self.typical_difference)


def errors(truth: Metric, elicited: Metric) -> tuple[float, float, float]:
    """Return the L1, L2 and maximum norm of elicited minus true weights."""
    difference = elicited.weights - truth.weights
    size = np.abs(difference)
    return float(size.sum()), float(np.linalg.norm(difference)), float(size.max())


def _differences(metric: Values, first: Matrix, second: Matrix) -> Matrix:
    one, other = metric(first), metric(second)
    differences: Matrix = np.where(
        np.abs(one - other) <= _SAME * np.maximum(np.abs(one), np.abs(other)), 0.0, one - other
    )
    return differences
