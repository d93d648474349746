"""Scoring and deciding cases with an elicited metric, in the caller's own labels.

A decision may be referred to a person: "refer" is one more column of the cost matrix, with a cost of its own. Sources:
C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information Theory 16, 1970; for
unequal costs, L. Ferrer, "Analysis and Comparison of Classification Metrics", 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.batches import total_weight, weighted_sum
from metrics.elicited.family import family_of
from metrics.elicited.kinds import PricedScores
from metrics.elicited.release import ReleaseForm, ReleaseList, release_factors, release_list, two_level_factors
from metrics.errors import InputError, require
from metrics.inputs.arguments import (
    Columns,
    Floats,
    aligned,
    by_class,
    case_weights,
    column_names,
    index_of_names,
    labelled_table,
    matrix_of,
    number_array,
    required_weight,
    same_length,
    weights_by_label,
)
from metrics.inputs.class_index import ClassIndex, LabelledWeights
from metrics.inputs.labels import Probabilities, is_missing, label_array
from metrics.measures.costs import least_cost_decisions

if TYPE_CHECKING:
    from metrics.measures.concern import MetaPatternConcernScore, TrueConcern


class CostsOfCases(PricedScores):
    """The part of `ElicitedMetric` that works on the labels and probabilities of cases."""

    if TYPE_CHECKING:
        classes: tuple[str, ...]
        family: str
        weights: Floats
        cost_matrix: Floats
        intervals: Floats | None
        prevalence: Floats | None
        labels: tuple[Any, ...]

    @cached_property
    def class_index(self) -> ClassIndex:
        """Return the index that maps a label to its class; the labels are `labels`, by default the classes.

        Raises
        ------
        InputError
            If the metric does not price mistakes between classes.
        """
        self.require_kind("confusion")
        return ClassIndex(np.fromiter(self.labels, dtype=object, count=len(self.labels)), "labels")

    @cached_property
    def class_weight(self) -> LabelledWeights:
        """Return label -> weight of the true class, with mean 1, proportional to the cost of the class's worst error.

        A dict as scikit-learn's estimators take it; labels are looked up as text.
        """
        values = family_of(self.family).class_weight(self.weights)
        return LabelledWeights(zip(self.labels, map(float, values), strict=True))

    def release_factors(self, form: ReleaseForm = "graded") -> NDArray[np.float64]:
        """Return the release factors of the Meta Pattern Concern Score, shape (k, k); 1 is full concern.

        "graded": one factor per mistake, from the costs; "list": the paper's two levels, as in `release_list`.
        """
        graded = release_factors(self.cost_matrix)
        return graded if form == "graded" else two_level_factors(graded)

    def release_list(self) -> ReleaseList:
        """Return the paper's two-level form: a list R of class indices, one factor, and the error of the fit."""
        return release_list(self.release_factors())

    def decision_threshold(self, pos_label: object) -> float:
        """Return the probability from which predicting the positive class costs least (two classes).

        Parameters
        ----------
        pos_label : label
            The positive class.

        Returns
        -------
        float
            C[n, p] / (C[n, p] + C[p, n]) in [0, 1], n and p the negative and the positive class.

        Raises
        ------
        InputError
            If there are more than two classes, or `pos_label` is not one of them.
        """
        if len(self.classes) != 2:
            raise InputError(f"a decision threshold exists for two classes, the metric has {len(self.classes)}.")
        positive = int(self.class_index.indices_of([pos_label], "pos_label")[0])
        false_alarm, miss = self.cost_matrix[1 - positive, positive], self.cost_matrix[positive, 1 - positive]
        return float(false_alarm / (false_alarm + miss))

    def score(self, y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost per case of predictions, in units of the worst mistake; lower is better.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            In [0, 1]; 0 if every prediction is right.

        Raises
        ------
        InputError
            If a label is not one of the metric's classes or the lengths differ.
        """
        from metrics.measures.costs import misclassification_cost

        true, predicted = self.class_index.indices(y_true, "y_true"), self.class_index.indices(y_pred, "y_pred")
        return misclassification_cost(true, predicted, self.cost_matrix, sample_weight=sample_weight)

    def expected_score(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean expected cost per case under predicted probabilities; lower is better.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        y_proba : array-like of shape (n, m)
            Probabilities; rows sum to 1.
        labels : sequence of m labels, optional
            Labels of the columns, such as an estimator's ``classes_``; a class left out has probability 0. By default
            the column names of a frame, otherwise the classes of the metric in their order.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        InputError
            If a label is not one of the metric's classes, or the probabilities are invalid.
        """
        from metrics.measures.costs import expected_misclassification_cost

        true, proba, columns = aligned(self.class_index, y_true, y_proba, self._labels_of(y_proba, labels))
        costs = self.cost_matrix[np.ix_(columns, columns)]
        return expected_misclassification_cost(true, proba, costs, sample_weight=sample_weight)

    def decide(self, y_proba: ArrayLike, *, labels: Sequence[object] | None = None) -> NDArray[Any]:
        """Return the decisions of least expected cost.

        Parameters
        ----------
        y_proba : array-like of shape (n, m)
            Probabilities; rows sum to 1.
        labels : sequence of m labels, optional
            Labels of the columns, such as an estimator's ``classes_``; only these can be decided for. By default the
            column names of a frame, otherwise the classes of the metric in their order.

        Returns
        -------
        ndarray of shape (n,)
            Elements of `labels`; ties go to the earlier label.

        Raises
        ------
        InputError
            If a label is not one of the metric's classes, or the probabilities are invalid.
        """
        from metrics.measures.costs import cost_sensitive_decisions

        proba, columns = self.table_of(y_proba, labels)
        names: Any = [self.labels[j] for j in columns] if labels is None else labels
        return cost_sensitive_decisions(proba, self.cost_matrix[np.ix_(columns, columns)], labels=names)

    def meta_pattern_concern_score(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        sample_weight: ArrayLike | None = None,
        top_k: int | None = None,
        n_intervals: int = 50,
        true_concern: TrueConcern = "sum",
        release: ReleaseForm = "graded",
        by_class: bool = True,
    ) -> MetaPatternConcernScore:
        """Return the Meta Pattern Concern Score with this metric's release factors.

        Parameters
        ----------
        y_true, y_proba, labels, sample_weight
            As in `expected_score`; the same inputs are rejected.
        top_k, n_intervals, true_concern
            As in `metrics.meta_pattern_concern_score`.
        release : {"graded", "list"}
            See `release_factors`.
        by_class : bool
            Whether each case is weighted in the mean with the `class_weight` of its true class; otherwise the mean is
            that of the paper, equation (9).

        Returns
        -------
        MetaPatternConcernScore
            A float, lower is better, with the patterns behind it; see `metrics.meta_pattern_concern_score`.
        """
        from metrics.measures.concern import meta_pattern_concern_score

        true, proba, columns = aligned(self.class_index, y_true, y_proba, self._labels_of(y_proba, labels))
        return meta_pattern_concern_score(
            true,
            proba,
            top_k=top_k,
            n_intervals=n_intervals,
            true_concern=true_concern,
            release_factors=self.release_factors(release)[np.ix_(columns, columns)],
            class_weight=family_of(self.family).class_weight(self.weights)[columns] if by_class else None,
            sample_weight=sample_weight,
        )

    def refer(self, cost: float | Sequence[float] | Mapping[Any, float], *, label: object = "refer") -> Referral:
        """Return this metric with one more decision, "refer to a person", at a cost of its own.

        Parameters
        ----------
        cost : float, sequence of k floats or mapping
            Cost of referring a case, in units of the worst mistake, >= 0; the same for every case, or by true class. A
            pandas series indexed by labels counts as a mapping.
        label : object
            The label of this decision; it must not be one of the metric's labels.

        Returns
        -------
        Referral
            With `decide`, `score` and the k x (k + 1) costs.

        Raises
        ------
        InputError
            If a cost is negative or not a number, or the label is a class.

        Examples
        --------
        >>> from metrics import ElicitedMetric
        >>> metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]])
        >>> metric.refer(0.1).decide([[0.9, 0.1], [0.3, 0.7], [0.01, 0.99]]).tolist()
        ['ill', 'refer', 'well']
        """
        return Referral.of(self, cost, label)

    def as_scorer(self, *, response_method: Literal["predict", "predict_proba"] = "predict") -> Any:
        """Return a scikit-learn scorer: the negated mean cost of an estimator's output; greater is better.

        It works wherever scikit-learn takes ``scoring``: `cross_val_score`, `GridSearchCV`,
        `TunedThresholdClassifierCV`. The estimator's classes are matched as text;
        ``set_score_request(sample_weight=True)`` routes weights.

        Parameters
        ----------
        response_method : {"predict", "predict_proba"}
            "predict": the negated `score` of its predictions. "predict_proba": the negated `expected_score` of its
            probabilities, which reflects the uncertainty of every case. `TunedThresholdClassifierCV` does not take
            it, because no threshold changes it.

        Returns
        -------
        callable
            ``scorer(estimator, X, y, sample_weight=None)``.

        Raises
        ------
        InputError
            If the method is unknown.
        """
        require("sklearn")
        self.require_kind("confusion")
        if response_method == "predict":
            from sklearn.metrics import make_scorer

            return make_scorer(self.score, greater_is_better=False)
        if response_method == "predict_proba":
            from metrics.elicited.scorer import ExpectedCostScorer

            return ExpectedCostScorer(self.expected_score)
        raise InputError(f"response_method: predict or predict_proba was expected, found {response_method!r}.")

    def table_of(
        self, y_proba: ArrayLike, labels: Sequence[object] | None = None, name: str = "y_proba"
    ) -> tuple[Probabilities, Columns]:
        """Return probabilities and the class of each column, as in `decide`; error messages call them `name`."""
        return labelled_table(self.class_index, y_proba, self._labels_of(y_proba, labels), name)

    def matrix_of(self, matrix: ArrayLike, name: str) -> Floats:
        """Return a k x k matrix in the order of the classes; its rows and columns may be named after labels or classes.

        Raises
        ------
        InputError
            If it has another shape or other names.
        """
        known = self.class_index, ClassIndex(self.classes, "classes")
        return matrix_of(matrix, index_of_names(matrix, known, name), name)

    def _labels_of(self, y_proba: ArrayLike, labels: Sequence[object] | None) -> Sequence[object] | None:
        """Return `labels`; for a frame with columns named after the classes, the metric's labels in that order."""
        named = column_names(y_proba) if labels is None else None
        if named is None or self.class_index.order_of(named) is not None:
            return labels
        order = ClassIndex(self.classes, "classes").order_of(named)
        return labels if order is None else [self.labels[index] for index in np.argsort(order)]


@dataclass(frozen=True, eq=False)
class Referral:
    """A metric with one more decision, to refer the case to a person. Made by `ElicitedMetric.refer`.

    Parameters
    ----------
    metric : ElicitedMetric
        The costs of mistakes.
    cost : ndarray of shape (k,)
        Cost of referring a case of each true class, in units of the worst mistake.
    label : object
        The label of the decision to refer.
    """

    metric: CostsOfCases
    cost: Floats
    label: object

    @classmethod
    def of(cls, metric: CostsOfCases, cost: float | Sequence[float] | Mapping[Any, float], label: object) -> Self:
        """Convert the caller's arguments to the types of the fields; see `ElicitedMetric.refer`."""
        k = len(metric.classes)
        by_label = weights_by_label(cost)
        if isinstance(by_label, Mapping):
            metric.class_index.indices_of(by_label, "cost")
        costs = number_array(by_class(by_label, metric.class_index, "cost"), "cost")
        if costs.shape not in ((), (k,)) or (costs < 0).any():
            raise InputError(f"cost: a number >= 0 was expected, or {k} of them, one per class; found {cost!r}.")
        if is_missing(label) or metric.class_index.place(label) >= 0:
            fault = "is missing" if is_missing(label) else "is a class"
            raise InputError(f"label: {label!r} {fault}; a label that is not a class was expected.")
        return cls(metric, np.broadcast_to(costs, (k,)), label)

    @property
    def cost_matrix(self) -> Floats:
        """Return the costs, shape (k, k + 1): rows are true classes, the last column is the decision to refer."""
        return np.column_stack([self.metric.cost_matrix, self.cost])

    def decide(self, y_proba: ArrayLike, *, labels: Sequence[object] | None = None) -> NDArray[Any]:
        """Return the decisions of least expected cost.

        Parameters
        ----------
        y_proba, labels
            As in `ElicitedMetric.decide`; the same inputs are rejected.

        Returns
        -------
        ndarray of shape (n,)
            Elements of `labels`, or the label of the decision to refer. Ties go to the earlier label, and to referring
            last.
        """
        proba, columns = self.metric.table_of(y_proba, labels)
        names = [self.metric.labels[j] for j in columns] if labels is None else [*labels]
        costs = np.column_stack([self.metric.cost_matrix[np.ix_(columns, columns)], self.cost[columns]])
        decided = ClassIndex([*names, self.label])  # type: ignore[arg-type]  # labels of any type
        return np.asarray(decided.labels.take(least_cost_decisions(proba, costs)))

    def score(self, y_true: ArrayLike, decisions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost per case of decisions, in units of the worst mistake; lower is better.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        decisions : array-like of shape (n,)
            Labels, or the label of the decision to refer.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Raises
        ------
        InputError
            If a label is not one of the metric's classes or the lengths differ.
        """
        true = self.metric.class_index.indices(y_true, "y_true")
        given = label_array(decisions, "decisions")
        known = self.metric.class_index.search(given)
        every = ClassIndex([*self.metric.labels, self.label])
        decided = every.require_known(np.where(known < 0, every.search(given), known), given, "decisions")
        same_length(len(true), len(decided), "decisions")
        weight, costs = case_weights(sample_weight, len(true)), self.cost_matrix[true, decided]
        return weighted_sum(costs, weight) / required_weight(total_weight(true, weight))
