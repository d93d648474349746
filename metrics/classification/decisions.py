"""Decisions of least expected cost; in a cost matrix rows are true classes and columns are predicted classes.

Source: C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.blocks import Workspace, first_greatest, for_blocks, nothing, rows_per_block
from metrics.batches.products import small_by_long
from metrics.inputs.arguments import cost_matrix_for
from metrics.inputs.labels import Classes, column_classes
from metrics.inputs.probabilities import checked_rows, probability_array
from metrics.inputs.tables import demand_order, named_classes

# Expected costs that differ by less than this share of the largest cost are equal: rounding must not decide.
_EQUAL_COST = 1e-12


class LeastCost:
    """The rule that decides for the class of least expected cost, argmin_j sum_i p_i C[i, j].

    Of classes whose expected costs are equal (within 1e-12 of the largest cost) the first is taken.

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Finite costs; rows are true classes, columns are predicted classes.
    classes : Classes or int
        The k labels in the order of the columns, or k.
    """

    def __init__(self, cost_matrix: ArrayLike, classes: Classes | int) -> None:
        self.cost_matrix = cost_matrix_for(cost_matrix, classes)
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
        return first_greatest(small_by_long(self._gain, columns), self._equal)[0]


def cost_sensitive_decisions(
    y_proba: ArrayLike, cost_matrix: ArrayLike, *, labels: ArrayLike | None = None
) -> NDArray[Any]:
    """Return the decisions of least expected cost, argmin_j sum_i p_i C[i, j] (Elkan 2001, section 1).

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
    InputError
        In words: which argument, which row, what was expected.
    """
    proba = probability_array(y_proba)
    n, k = proba.shape
    classes = column_classes(k, labels, np.arange(k))
    demand_order(y_proba, classes.names, "y_proba")
    named = named_classes(y_proba) if labels is None else None
    rule = LeastCost(cost_matrix, classes if named is None else named)

    decisions = np.empty(n, dtype=classes.labels.dtype)

    def work(space: Workspace, start: int, stop: int) -> None:
        rows = proba[start:stop]
        columns = space.array("columns", rows.shape[::-1], rows.dtype)
        np.copyto(columns, rows.T)
        checked_rows(rows, first=start, columns=columns)
        decisions[start:stop] = classes.labels.take(rule.decide(columns))

    for_blocks(n, rows_per_block(k), work, nothing, n_columns=k)
    return decisions
