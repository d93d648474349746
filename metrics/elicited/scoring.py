"""What an elicited metric does with cases: their cost, decisions, weights, thresholds, in the caller's own labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited.family import family_of
from metrics.elicited.release import ReleaseList, release_factors, release_list
from metrics.errors import InputError
from metrics.extras import require
from metrics.inputs.arguments import column_names, require_order
from metrics.inputs.class_index import ClassIndex, LabelledWeights, class_names
from metrics.inputs.labels import Probabilities, probability_array

if TYPE_CHECKING:
    from metrics.elicited.referral import Referral
    from metrics.probabilistic.concern import MetaPatternConcernScore

Floats = NDArray[np.float64]


class CostsOfCases:
    """The part of `ElicitedMetric` that takes labels and probabilities of cases."""

    if TYPE_CHECKING:
        classes: tuple[str, ...]
        family: str
        weights: Floats
        cost_matrix: Floats
        labels: tuple[Any, ...]

    @cached_property
    def class_index(self) -> ClassIndex:
        """Return what says which class a label means: one of `labels`, which by default are the classes."""
        return ClassIndex(np.fromiter(self.labels, dtype=object, count=len(self.labels)), "labels")

    @cached_property
    def class_weight(self) -> LabelledWeights:
        """Return label -> weight of the true class, mean 1: how much the class's worst error matters.

        A dict, as scikit-learn's estimators take it; labels are found as text.
        """
        values = family_of(self.family).class_weight(self.weights)
        return LabelledWeights(zip(self.labels, map(float, values), strict=True))

    def release_factors(self) -> NDArray[np.float64]:
        """Return the release factors of the Meta Pattern Concern Score, shape (k, k); 1 is full concern."""
        return release_factors(self.cost_matrix)

    def release_list(self) -> ReleaseList:
        """Return the paper's two-level form: a list R of class indices, one factor, and the error of the fit."""
        return release_list(self.release_factors())

    def decision_threshold(self, pos_label: object) -> float:
        """Return the probability from which calling a case positive costs least (two classes).

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
            With more than two classes, or where `pos_label` is none of them.
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
            In [0, 1]; 0 where every prediction is right.

        Raises
        ------
        InputError
            Where a label is no class of the metric or the lengths differ.
        """
        from metrics.classification.costs import misclassification_cost

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
        """Return the mean cost per case expected under predicted probabilities; lower is better.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of any type, compared with the classes as text.
        y_proba : array-like of shape (n, m)
            Probabilities; rows sum to 1.
        labels : sequence of m labels, optional
            What the columns stand for, such as an estimator's ``classes_``; a class left out has probability 0. By
            default what the columns of a frame are named after, else the classes of the metric in their order.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        InputError
            Where a label is no class of the metric, or the probabilities are none.
        """
        from metrics.classification.costs import expected_misclassification_cost

        true, proba, columns = self._aligned(y_true, y_proba, labels)
        costs = self.cost_matrix[np.ix_(columns, columns)]
        return expected_misclassification_cost(true, proba, costs, sample_weight=sample_weight)

    def decide(self, y_proba: ArrayLike, *, labels: Sequence[object] | None = None) -> NDArray[Any]:
        """Return the decisions of least expected cost.

        Parameters
        ----------
        y_proba : array-like of shape (n, m)
            Probabilities; rows sum to 1.
        labels : sequence of m labels, optional
            What the columns stand for, such as an estimator's ``classes_``; only these are decided for. By default the
            classes of the metric in their order.

        Returns
        -------
        ndarray of shape (n,)
            Elements of `labels`; of equal costs the earlier label.

        Raises
        ------
        InputError
            Where a label is no class of the metric, or the probabilities are none.
        """
        from metrics.classification.costs import cost_sensitive_decisions

        proba, columns = self.table(y_proba, labels)
        names: Any = [self.labels[j] for j in columns] if labels is None else labels
        return cost_sensitive_decisions(proba, self.cost_matrix[np.ix_(columns, columns)], labels=names)

    def meta_pattern_concern_score(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        labels: Sequence[object] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> MetaPatternConcernScore:
        """Return the Meta Pattern Concern Score with this metric's release factors and class weights.

        All classes count, in 50 intervals.

        Parameters
        ----------
        y_true, y_proba, labels, sample_weight
            As in `expected_score`, and refused as there.

        Returns
        -------
        MetaPatternConcernScore
            A float, lower is better: the mean over the cases, each weighted with its true class's weight. It carries
            the patterns, see `metrics.meta_pattern_concern_score`.
        """
        from metrics.probabilistic.concern import meta_pattern_concern_score

        true, proba, columns = self._aligned(y_true, y_proba, labels)
        return meta_pattern_concern_score(
            true,
            proba,
            release_factors=self.release_factors()[np.ix_(columns, columns)],
            class_weight=family_of(self.family).class_weight(self.weights)[columns],
            sample_weight=sample_weight,
        )

    def refer(self, cost: float | Sequence[float] | Mapping[Any, float], *, label: object = "refer") -> Referral:
        """Return the decisions among which "refer to a person" is one more, at a cost of its own.

        Parameters
        ----------
        cost : float, sequence of k floats or mapping
            What referring a case costs, in units of the worst mistake, >= 0; the same for every case, or by true class.
        label : object
            What stands for it among the decisions; none of the metric's labels.

        Returns
        -------
        Referral
            With `decide`, `score` and the k x (k + 1) costs.

        Raises
        ------
        InputError
            Where a cost is negative or no number, or the label is a class.

        Examples
        --------
        >>> from metrics import ElicitedMetric
        >>> metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]])
        >>> metric.refer(0.1).decide([[0.9, 0.1], [0.3, 0.7], [0.01, 0.99]]).tolist()
        ['ill', 'refer', 'well']
        """
        from metrics.elicited.referral import Referral

        return Referral.of(self, cost, label)

    def as_scorer(self, *, response_method: Literal["predict", "predict_proba"] = "predict") -> Any:
        """Return a scikit-learn scorer, greater is better: the negated mean cost of what an estimator returns.

        It goes where scikit-learn takes ``scoring``: `cross_val_score`, `GridSearchCV`, `TunedThresholdClassifierCV`.
        An estimator's classes are matched as text; ``set_score_request(sample_weight=True)`` routes weights.

        Parameters
        ----------
        response_method : {"predict", "predict_proba"}
            "predict": the negated `score` of its predictions. "predict_proba": the negated `expected_score` of its
            probabilities, which takes every case's doubt in.

        Returns
        -------
        callable
            ``scorer(estimator, X, y, sample_weight=None)``.

        Raises
        ------
        InputError
            For any other method.
        """
        require("sklearn")
        if response_method == "predict":
            from sklearn.metrics import make_scorer

            return make_scorer(self.score, greater_is_better=False)
        if response_method == "predict_proba":
            from metrics.elicited.scorer import ExpectedCostScorer

            return ExpectedCostScorer(self)
        raise InputError(f"response_method: predict or predict_proba was expected, found {response_method!r}.")

    def _columns(self, labels: Sequence[object]) -> NDArray[np.intp]:
        """Return the class index of each label that names a column; all different."""
        class_names(labels)
        columns = self.class_index.indices_of(labels, "labels")
        class_names([self.classes[j] for j in columns])
        return columns

    def table(self, y_proba: ArrayLike, labels: Sequence[object] | None) -> tuple[Probabilities, NDArray[np.intp]]:
        """Return the probabilities and the class index of each column.

        The probability of one of two classes alone is refused: scikit-learn means the class that sorts last.
        """
        if labels is None:
            named = column_names(y_proba)
            order = None if named is None else self.class_index.order_of(named)
            if named is not None and order is None:
                order = ClassIndex(self.classes).order_of(named)  # columns that keep the names of the classes
            columns = np.arange(len(self.classes)) if order is None else np.argsort(order)
        else:
            columns = self._columns(labels)
            require_order(y_proba, ClassIndex([self.class_index.names[j] for j in columns]), "y_proba")
        proba = probability_array(y_proba, flat="refused")
        if proba.shape[1] != len(columns):
            raise InputError(f"y_proba: {len(columns)} columns were expected, one per class, found {proba.shape[1]}.")
        return proba, columns

    def _aligned(
        self, y_true: ArrayLike, y_proba: ArrayLike, labels: Sequence[object] | None
    ) -> tuple[NDArray[np.intp], Probabilities, NDArray[np.intp]]:
        """Return the column of each true label, the probabilities, and the class of each column, all k of them.

        The probabilities are copied only where `labels` leaves classes out; these become columns of zeros at the end.
        """
        proba, columns = self.table(y_proba, labels)
        missing = np.setdiff1d(np.arange(len(self.classes)), columns)
        if len(missing):
            columns = np.concatenate([columns, missing])
            proba = np.hstack([proba, np.zeros((len(proba), len(missing)), dtype=proba.dtype)])
        return np.argsort(columns)[self.class_index.indices(y_true, "y_true")], proba, columns
