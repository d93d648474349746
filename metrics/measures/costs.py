"""Costs of mistakes and least-cost decisions; rows of cost matrices are true classes, columns predicted classes.

Sources: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589]; C. Elkan, "The foundations of
cost-sensitive learning", IJCAI 2001.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import (
    Codes,
    ProbabilityAccumulator,
    Totals,
    labelled_probabilities,
    probability_chunks,
    total_weight,
)
from metrics.errors import InputError, require
from metrics.inputs.arguments import (
    Floats,
    matrix_of,
    named_classes,
    require_order,
    required_weight,
    square_matrix,
    stated_shares,
)
from metrics.inputs.class_index import ClassIndex, column_classes
from metrics.inputs.labels import Probabilities, checked_rows, label_array, probability_array
from metrics.measures.confusion import CellCounts, ConfusionCounts

# Expected costs that differ by less than this share of the largest cost count as equal, so that rounding never decides.
EQUAL_COST = 1e-12


class LeastCost:
    """The rule that decides for the class of least expected cost, argmin_j sum_i p_i C[i, j].

    If expected costs are equal (within 1e-12 of the largest cost), the first class is chosen.

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Finite costs; rows are true classes, columns are predicted classes.
    classes : ClassIndex or int
        The k labels in the order of the columns, or k.
    """

    def __init__(self, cost_matrix: ArrayLike, classes: ClassIndex | int) -> None:
        self.cost_matrix = matrix_of(cost_matrix, classes)

    def decide(self, proba: Probabilities) -> Codes:
        """Return the decisions, shape (b,), as indices of classes, under probabilities (b, k)."""
        return _cheapest(proba, self.cost_matrix)


def _cheapest(proba: Probabilities, costs: Floats) -> Codes:
    """Return the column of least expected cost for each row of probabilities (b, k), with costs (k, decisions)."""
    expected = costs.T @ proba.T  # class by class, because comparing whole columns is twice as fast
    equal = EQUAL_COST * float(np.abs(costs).max())
    return np.asarray((expected <= expected.min(axis=0) + equal).argmax(axis=0))


def least_cost_decisions(proba: Probabilities, costs: Floats) -> Codes:
    """Return the decisions of least expected cost as indices, the first on ties; costs (k, d) are of d decisions.

    Raises InputError if a row of `proba`, from `probability_array`, is not a probability distribution.
    """
    decisions = np.empty(len(proba), dtype=np.intp)
    for rows in probability_chunks(proba):
        checked_rows(proba[rows], first=rows.start)
        decisions[rows] = _cheapest(proba[rows], costs)
    return decisions


class DecisionCounts(CellCounts, ProbabilityAccumulator):
    """The confusion matrix of decisions based on predicted probabilities.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    rule : LeastCost, optional
        Decides for least expected cost; by default for the most probable class. Ties go to the first.
    """

    def __init__(self, classes: int | ArrayLike | ClassIndex, rule: LeastCost | None = None) -> None:
        super().__init__(classes)
        self.cost_matrix = None if rule is None else matrix_of(rule.cost_matrix, self.classes)
        self._rule = rule

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the matrices over some cases."""
        decisions = proba.argmax(axis=1) if self._rule is None else self._rule.decide(proba)
        return self.counted(true, decisions, weight)


class ExpectedCost(ProbabilityAccumulator):
    """Total probability of each class over the cases of each true class, which determines every expected cost.

    G[a, b] is the sum of the probability of class b over the cases of true class a. The expected misclassification cost
    under any cost matrix C is <G, C> / n, without another pass over the cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    cost_matrix : array-like of shape (k, k), optional
        The costs used by `result`.
    """

    def __init__(self, classes: int | ArrayLike | ClassIndex, *, cost_matrix: ArrayLike | None = None) -> None:
        super().__init__(classes)
        self.cost_matrix = None if cost_matrix is None else matrix_of(cost_matrix, self.classes)

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return G over some cases: the k x b indicator matrix of true classes times their probabilities."""
        require("scipy")
        from scipy.sparse import csc_array  # takes 0.1 s, which reading a metric need not pay

        b = len(true)
        truth = csc_array((np.ones(b) if weight is None else weight, true, np.arange(b + 1)), shape=(proba.shape[1], b))
        return {"probability": truth @ proba, "weight": total_weight(true, weight)}

    def matrix(self) -> Floats:
        """Return G, shape (k, k): rows are true classes; the sum of all entries is the weight of the cases."""
        return np.asarray(np.zeros((len(self.classes),) * 2) + self.value("probability"))

    def expected_cost(self, cost_matrix: ArrayLike) -> float:
        """Return the expected misclassification cost.

        Parameters
        ----------
        cost_matrix : array-like of shape (k, k)
            Rows are true classes, columns are predicted classes.

        Raises
        ------
        InputError
            If the matrix has the wrong size, or no case with a weight above zero was seen.
        """
        costs = matrix_of(cost_matrix, self.classes)
        return float((self.matrix() * costs).sum()) / self.weight()

    def result(self) -> float:
        """Return the expected misclassification cost under the accumulator's own cost matrix.

        Raises
        ------
        InputError
            If it has none, or no case with a weight above zero was seen.
        """
        if self.cost_matrix is None:
            raise InputError("cost_matrix: none was given; call expected_cost(cost_matrix) instead.")
        return self.expected_cost(self.cost_matrix)


class MisclassificationCost(ConfusionCounts):
    """The mean cost of predictions, accumulated over batches of cases.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of rows and columns; a number k stands for the labels 0, ..., k-1.
    cost_matrix : array-like of shape (k, k)
        Rows are true classes, columns are predicted classes.
    """

    def __init__(self, classes: int | ArrayLike | ClassIndex, *, cost_matrix: ArrayLike) -> None:
        super().__init__(classes)
        self.cost_matrix = matrix_of(cost_matrix, self.classes)

    def result(self) -> float:  # type: ignore[override]
        """Return the mean cost, in units of the cost matrix; lower is better.

        Raises
        ------
        InputError
            If no case with a weight above zero was seen.
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
        Labels of the rows and columns, in order; see `metrics.inputs.class_index` for the default.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        In units of the cost matrix; lower is better.

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import misclassification_cost
    >>> misclassification_cost([0, 0, 1, 1], [0, 1, 1, 0], [[0, 10], [1, 0]])
    2.75
    """
    size = len(square_matrix(cost_matrix))
    true, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    classes = column_classes(size, labels, true, "cost_matrix", named=named_classes(cost_matrix))
    cost = MisclassificationCost(classes, cost_matrix=cost_matrix)
    return cost.update(true, predicted, sample_weight=sample_weight).result()


def mean_cost(counts: ArrayLike, cost_matrix: ArrayLike) -> float:
    """Return the mean cost of the cases in a confusion matrix of counts or rates: <counts, C> / n.

    Raises InputError if the counts sum to zero or the shapes differ.
    """
    cases = square_matrix(counts, "counts")
    return float((cases * matrix_of(cost_matrix, len(cases))).sum()) / required_weight(float(cases.sum()))


def expected_misclassification_cost(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    cost_matrix: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the expected mean cost if predictions are drawn from the probabilities [M589].

    Mean of sum_j p_ij C[y_i, j], which is <G, C> / n with G of `ExpectedCost`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1.
    cost_matrix, labels, sample_weight
        As in `misclassification_cost`; the same inputs are rejected.

    Returns
    -------
    float
        In units of the cost matrix; lower is better.

    Examples
    --------
    >>> from metrics import expected_misclassification_cost
    >>> expected_misclassification_cost([0, 1], [[0.8, 0.2], [0.5, 0.5]], [[0, 10], [1, 0]])
    1.25
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    expected = ExpectedCost(classes, cost_matrix=cost_matrix)
    return expected.update(true, proba, sample_weight=sample_weight).result()


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
        Labels of the columns; by default 0, ..., k-1.

    Returns
    -------
    ndarray of shape (n,)
        Elements of `labels`; the first if expected costs are equal (within 1e-12 of the largest cost).

    Raises
    ------
    InputError
        If an argument is invalid; the message names the argument, the row and what was expected.

    Examples
    --------
    >>> from metrics import cost_sensitive_decisions
    >>> cost_sensitive_decisions([[0.2, 0.8], [0.05, 0.95]], [[0, 10], [1, 0]]).tolist()
    [0, 1]
    """
    proba = probability_array(y_proba)
    k = proba.shape[1]
    classes = column_classes(k, labels, np.arange(k))
    require_order(y_proba, classes, "y_proba")
    named = named_classes(y_proba) if labels is None else None
    costs = matrix_of(cost_matrix, classes if named is None else named)
    return np.asarray(classes.labels.take(least_cost_decisions(proba, costs)))


class PrevalenceShift(NamedTuple):
    """Weights and probabilities of cases at another prevalence.

    Attributes
    ----------
    sample_weight : ndarray of shape (n,)
        Weights, with mean 1, under which the true classes have the stated prevalence. With them, every measure that
        takes `sample_weight` refers to that prevalence.
    y_proba : ndarray of shape (n, k)
        Probabilities corrected to the stated prevalence.
    """

    sample_weight: Floats
    y_proba: Floats


def prevalence_shift(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    prevalence: ArrayLike | Mapping[Any, float],
    *,
    labels: ArrayLike | None = None,
) -> PrevalenceShift:
    """Return the weights and probabilities of cases at another prevalence, all else unchanged [M589].

    The classes become more or less common; within a true class nothing changes. Probabilities are corrected by Bayes'
    rule, p_j proportional to p_j new_j / old_j (Saerens, Latinne and Decaestecker 2002, equation 2.4).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1.
    prevalence : array-like of shape (k,) or mapping of label to share
        Relative frequencies of the true classes at the new prevalence, in any scale.
    labels : array-like of shape (k,), optional
        Labels of the columns, in order; see `metrics.inputs.class_index` for the default.

    Returns
    -------
    PrevalenceShift
        ``sample_weight`` and ``y_proba``. A case whose corrected probabilities are all 0 keeps its row, with weight 0.

    Raises
    ------
    InputError
        If an argument is invalid (the message names the argument and the row), or a class with a stated share has no
        case.

    Examples
    --------
    >>> from metrics import error_rate, prevalence_shift
    >>> shift = prevalence_shift([0, 0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]], [0.9, 0.1])
    >>> shift.sample_weight.tolist()
    [1.8, 1.8, 0.2, 0.2]
    >>> round(error_rate([0, 0, 1, 1], [0, 1, 1, 0], sample_weight=shift.sample_weight), 6)
    0.5
    >>> shift.y_proba.round(4).tolist()
    [[0.9878, 0.0122], [0.8571, 0.1429], [0.6923, 0.3077], [0.9545, 0.0455]]
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    checked_rows(proba)
    codes = classes.places(true, "y_true")
    cases = np.bincount(codes, minlength=len(classes))
    stated = stated_shares(prevalence, classes, cases)
    ratio = times_as_common(stated, cases / len(codes))
    return PrevalenceShift(ratio[codes], corrected(proba, ratio))


def times_as_common(stated: Floats, own: Floats) -> Floats:
    """Return how many times as common as among the cases each class is stated to be, shape (k,); 0 without cases."""
    return np.asarray(np.divide(stated, own, out=np.zeros(len(own)), where=own > 0))


def corrected(proba: NDArray[np.floating[Any]], ratio: Floats) -> Floats:
    """Return probabilities, shape (n, k), corrected for classes that are `ratio`, shape (k,), times as common.

    A row whose corrected probabilities are all 0 is unchanged.
    """
    joint = proba * ratio
    total = joint.sum(axis=1, keepdims=True)
    shifted: Floats = np.divide(joint, total, out=np.array(proba, dtype=np.float64), where=total > 0)
    return shifted
