"""Decisions of least expected cost; in a cost matrix rows are true classes and columns are predicted classes.

Source: C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.arguments import cost_matrix_for
from metrics.blocks import Workspace, first_greatest, for_blocks
from metrics.labels import column_classes
from metrics.probabilities import checked_rows, probability_array

# Expected costs that differ by less than this share of the largest cost are equal: rounding must not decide.
_EQUAL_COST = 1e-12


class LeastCost:
    """The rule that decides for the class of least expected cost, argmin_j sum_i p_i C[i, j].

    Of classes whose expected costs are equal (within 1e-12 of the largest cost) the first is taken.

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Finite costs; rows are true classes, columns are predicted classes.
    n_classes : int
        k.
    """

    def __init__(self, cost_matrix: ArrayLike, n_classes: int) -> None:
        self.cost_matrix = cost_matrix_for(cost_matrix, n_classes)
        self._gain = -self.cost_matrix.T
        self._equal = _EQUAL_COST * float(np.abs(self.cost_matrix).max())

    def decide(self, columns: NDArray[Any]) -> NDArray[np.intp]:
        """Return the decisions.

        Parameters
        ----------
        columns : ndarray of shape (k, b)
            Probabilities by class.

        Returns
        -------
        ndarray of shape (b,)
            Indices of classes.
        """
        return first_greatest(self._gain @ columns, self._equal)[0]


def cost_sensitive_decisions(
    y_proba: ArrayLike, cost_matrix: ArrayLike, *, labels: ArrayLike | None = None
) -> NDArray[Any]:
    """Return the decisions of least expected cost, argmin_j sum_i p_i C[i, j].

    Parameters
    ----------
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1.
    cost_matrix : array-like of shape (k, k)
        Rows are true classes, columns are predicted classes.
    labels : array-like of shape (k,), optional
        What the columns stand for; by default 0, ..., k-1.

    Returns
    -------
    ndarray of shape (n,)
        Elements of `labels`; of equal expected costs (within 1e-12 of the largest cost) the first.

    Raises
    ------
    ValueError
        In words: which argument, which row, what was expected.
    """
    proba = probability_array(y_proba)
    n, k = proba.shape
    classes = column_classes(k, labels, np.arange(k))
    rule = LeastCost(cost_matrix, k)

    def work(space: Workspace, start: int, stop: int) -> NDArray[Any]:
        rows = proba[start:stop]
        checked_rows(rows, first=start)
        return classes.labels.take(rule.decide(np.ascontiguousarray(rows.T)))

    return np.concatenate(for_blocks(n, k, work))
