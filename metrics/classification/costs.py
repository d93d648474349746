"""Costs of mistakes; in a cost matrix rows are true classes and columns are predicted classes.

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches.accumulators import Totals
from metrics.batches.blocks import Block
from metrics.batches.predictions import ProbabilityAccumulator, labelled_probabilities
from metrics.batches.products import long_by_long
from metrics.classification.confusion import ConfusionCounts
from metrics.errors import InputError
from metrics.inputs.arguments import cost_matrix_for, demanded_weight, square_matrix
from metrics.inputs.labels import Classes, column_classes, label_array
from metrics.inputs.tables import named_classes

# Up to this many classes one matrix product per block is faster than adding up the rows class by class.
_FEW_CLASSES = 32


class ExpectedCost(ProbabilityAccumulator):
    """Mean probability of each class over the cases of each true class: what every expected cost is made of.

    G[a, b] is the sum of the probability of class b over the cases of true class a, so that <G, C> / n is the expected
    misclassification cost under any cost matrix C, without another look at the cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of the columns.
    cost_matrix : array-like of shape (k, k), optional
        The costs of `result`.
    """

    def __init__(self, classes: int | ArrayLike | Classes, *, cost_matrix: ArrayLike | None = None) -> None:
        super().__init__(classes)
        self.cost_matrix = None if cost_matrix is None else cost_matrix_for(cost_matrix, self.classes)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of G and of the weight."""
        k = len(self.classes)
        return {"probability": (k, k), "weight": ()}

    def setting(self) -> dict[str, Any]:
        """Return the classes and the costs."""
        return {"classes": self.classes, "cost_matrix": self.cost_matrix}

    def totals(self, block: Block) -> Totals:
        """Return G over a block."""
        k = len(self.classes)
        total = _by_class(block) if k <= _FEW_CLASSES else _by_sorted_class(block, k)
        return {"probability": total, "weight": block.total_weight}

    def matrix(self) -> NDArray[np.float64]:
        """Return G, shape (k, k): rows are true classes; the sum of all entries is the weight of the cases."""
        return np.asarray(self.value("probability"))

    def expected_cost(self, cost_matrix: ArrayLike) -> float:
        """Return the expected misclassification cost.

        Parameters
        ----------
        cost_matrix : array-like of shape (k, k)
            Rows are true classes, columns are predicted classes.

        Raises
        ------
        InputError
            Where the matrix is of another size, or no case with a weight above zero was seen.
        """
        costs = cost_matrix_for(cost_matrix, self.classes)
        return float((self.matrix() * costs).sum()) / self.weight()

    def result(self) -> float:
        """Return the expected misclassification cost under the accumulator's own cost matrix.

        Raises
        ------
        InputError
            Where it has none, or no case with a weight above zero was seen.
        """
        if self.cost_matrix is None:
            raise InputError("cost_matrix: none was given; ask expected_cost(cost_matrix) instead.")
        return self.expected_cost(self.cost_matrix)


class MisclassificationCost(ConfusionCounts):
    """The mean cost of predictions, taking its cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or Classes
        The k labels in the order of rows and columns; a number k stands for the labels 0, ..., k-1.
    cost_matrix : array-like of shape (k, k)
        Rows are true classes, columns are predicted classes.
    """

    def __init__(self, classes: int | ArrayLike | Classes, *, cost_matrix: ArrayLike) -> None:
        super().__init__(classes)
        self.cost_matrix = cost_matrix_for(cost_matrix, self.classes)

    def setting(self) -> dict[str, Any]:
        """Return the classes and the costs."""
        return {"classes": self.classes, "cost_matrix": self.cost_matrix}

    def result(self) -> float:  # type: ignore[override]
        """Return the mean cost, in units of the cost matrix; lower is better.

        Raises
        ------
        InputError
            Where no case with a weight above zero was seen.
        """
        return mean_cost(self.matrix(), self.cost_matrix)


def misclassification_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    cost_matrix: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean cost of predictions [M589]: mean of C[y_i, f_i].

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels.
    cost_matrix : array-like of shape (k, k)
        Rows are true classes, columns are predicted classes.
    labels : array-like of shape (k,), optional
        What the rows and columns stand for, in order; see `metrics.inputs.labels` for the rule without it.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        In units of the cost matrix; lower is better.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    size = len(square_matrix(cost_matrix))
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    classes = column_classes(size, labels, true, "cost_matrix", named=named_classes(cost_matrix))
    cost = MisclassificationCost(classes, cost_matrix=cost_matrix)
    return cost.update(true, predicted, sample_weight=sample_weight).result()


def mean_cost(counts: ArrayLike, cost_matrix: ArrayLike) -> float:
    """Return the mean cost of the cases that a confusion matrix counts: <counts, C> / n.

    Parameters
    ----------
    counts : array-like of shape (k, k)
        Counts or rates; rows are true classes, columns are predicted classes.
    cost_matrix : array-like of shape (k, k)
        Costs.

    Returns
    -------
    float
        In units of the cost matrix.

    Raises
    ------
    InputError
        Where nothing was counted or the shapes differ.
    """
    cases = square_matrix(counts, "counts")
    return float((cases * cost_matrix_for(cost_matrix, len(cases))).sum()) / demanded_weight(float(cases.sum()))


def expected_misclassification_cost(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    cost_matrix: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean cost expected where predictions are drawn from the probabilities [M589].

    Mean of sum_j p_ij C[y_i, j], which is <G, C> / n with G of `ExpectedCost`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1.
    cost_matrix, labels, sample_weight
        As in `misclassification_cost`, and refused as there.

    Returns
    -------
    float
        In units of the cost matrix; lower is better.
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    expected = ExpectedCost(classes, cost_matrix=cost_matrix)
    return expected.update(true, proba, sample_weight=sample_weight).result()


def _by_class(block: Block) -> NDArray[np.float64]:
    """Return the sums of the rows of each true class as a product with the 0-1 matrix of true classes."""
    k = block.rows.shape[1]
    truth = np.eye(k).take(block.true, axis=0)
    if block.weight is not None:
        truth *= block.weight[:, np.newaxis]
    return long_by_long(truth, block.rows.astype(np.float64, copy=False))


def _by_sorted_class(block: Block, k: int) -> NDArray[np.float64]:
    """Return the sums of the rows of each true class by sorting the rows."""
    order = np.argsort(block.true, kind="stable")
    true, rows = block.true[order], block.rows[order].astype(np.float64, copy=False)
    if block.weight is not None:
        rows = rows * block.weight[order, np.newaxis]
    starts = np.flatnonzero(np.diff(true, prepend=-1))
    total = np.zeros((k, k))
    total[true[starts]] = np.add.reduceat(rows, starts, axis=0)
    return total
