"""A scikit-learn classifier that makes least-cost decisions."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from metrics.elicited.elicited_metric import ElicitedMetric
from metrics.elicited.family import checked_cost_matrix
from metrics.errors import ArgumentTypeError, CostsCountTwice, InputError
from metrics.inputs.arguments import index_of_names, matrix_of
from metrics.inputs.class_index import ClassIndex, class_names
from metrics.measures.costs import cost_sensitive_decisions, misclassification_cost


def _estimator_has(method: str) -> Any:
    def has(self: CostSensitiveClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return has


# Parameters of scikit-learn, LightGBM and XGBoost that weigh classes, with their neutral values.
_NO_WEIGHTS = {"class_weight": None, "is_unbalance": False, "scale_pos_weight": 1}


def _class_weights(estimator: Any) -> str:
    """Return the parameter with which an estimator, or a part of it, weighs classes in training; empty if none.

    Parts inside a calibrator do not count, because its probabilities are fitted to the unweighted cases.
    """
    if isinstance(estimator, CalibratedClassifierCV) or not hasattr(estimator, "get_params"):
        return ""
    parts = estimator.get_params(deep=True)
    calibrated = [name for name, part in parts.items() if isinstance(part, CalibratedClassifierCV)]
    for name, value in parts.items():
        parameter = name.rpartition("__")[2]
        weighs = parameter in _NO_WEIGHTS and value is not None and value != _NO_WEIGHTS[parameter]
        if weighs and not any(name.startswith(f"{inside}__") for inside in calibrated):
            return f"{name}={value!r}"
    return ""


class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts argmin_j sum_i P(i | x) C[i, j] with the probabilities of another classifier.

    The decisions are only as good as the probabilities; calibrate them first if necessary
    (`sklearn.calibration.CalibratedClassifierCV`). Training is unchanged. The probabilities of an estimator trained
    with class weights already contain costs; `fit` then warns with `CostsCountTwice`. Ensembles that average
    probabilities (bagging, stacking, soft voting) would ignore the decisions of this classifier: wrap the ensemble.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`. It is cloned; wrap a fitted one in `sklearn.frozen.FrozenEstimator`.
    metric : ElicitedMetric or array-like of shape (k, k), optional
        The costs. The classes of an elicited metric are matched with those of the data as text and must include them.
        Rows of a matrix are true classes; rows and columns follow the sorted classes, or are named after them. By
        default all mistakes are equally bad.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (k,)
        Sorted labels.
    cost_matrix_ : ndarray of shape (k, k)
        Costs in the order of `classes_`; rows are true classes, columns are predicted classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_wine(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 1], [20, 20, 0]]
    >>> model = LogisticRegression(C=1e-4, max_iter=1000)
    >>> plain = (model.fit(X, y).predict(X) == 2).sum()
    >>> bool((CostSensitiveClassifier(model, costs).fit(X, y).predict(X) == 2).sum() > plain)
    True
    """

    def __init__(self, estimator: Any, metric: ElicitedMetric | ArrayLike | None = None) -> None:
        self.estimator = estimator
        self.metric = metric

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Fit the underlying classifier.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Training data.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases, if the estimator takes them.
        **fit_params
            Passed to the estimator's `fit`; routed if metadata routing is enabled.

        Returns
        -------
        CostSensitiveClassifier
            The fitted classifier itself.

        Raises
        ------
        InputError
            If a class has no costs, or the cost matrix has the wrong size or names.
        TypeError
            If the estimator has no `predict_proba`.
        """
        weighed = _class_weights(self.estimator)
        if weighed:
            warnings.warn(
                f"{weighed} and least-cost decisions count the costs twice: leave the weights out, or take the "
                "estimator's own predictions, or calibrate its probabilities (CalibratedClassifierCV).",
                CostsCountTwice,
                stacklevel=2,
            )
        y = column_or_1d(y, warn=True)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        # Checked after fitting: only then does a StackingClassifier know whether it has probabilities.
        if not hasattr(self.estimator_, "predict_proba"):
            name = type(self.estimator).__name__
            raise ArgumentTypeError(f"estimator: {name} has no predict_proba; wrap it in CalibratedClassifierCV.")
        self.classes_ = self.estimator_.classes_
        self.cost_matrix_ = self._costs()
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels of least expected cost; ties go to the first in `classes_`.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Cases.

        Returns
        -------
        ndarray of shape (n,)
            Elements of `classes_`.
        """
        check_is_fitted(self)
        proba = self.estimator_.predict_proba(X)
        if len(self.classes_) == 1:  # some estimators accept a single class
            return np.repeat(self.classes_, len(proba))
        return np.asarray(self.classes_[cost_sensitive_decisions(proba, self.cost_matrix_)])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the negated mean cost of the predictions, not the accuracy; greater is better.

        Searches without ``scoring`` optimise this score.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Cases.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            At most 0, in units of the costs; without a metric the negated error rate.

        Raises
        ------
        InputError
            If a label has no costs.
        """
        decided = self.predict(X)
        if isinstance(self.metric, ElicitedMetric):
            return -self.metric.score(y, decided, sample_weight=sample_weight)
        true, predicted = (ClassIndex(self.classes_).indices(side, "y") for side in (y, decided))
        return -misclassification_cost(true, predicted, self.cost_matrix_, sample_weight=sample_weight)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the estimator's probabilities, shape (n, k); the columns are `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of the estimator's probabilities, shape (n, k); the columns are `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_log_proba(X))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing: this `fit` passes metadata to the estimator's `fit`."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _how_to_encode(self, metric: ElicitedMetric) -> str:
        """Return what to do if the labels seem to be encoded by an ensemble around this classifier, else nothing."""
        k = len(self.classes_)
        if k != len(metric.classes) or self.classes_.tolist() != [*range(k)]:
            return ""
        codes = {label: code for code, label in enumerate(metric.class_index.sorted_names())}
        return (
            " Voting, stacking and bagging pass on the sorted labels as 0, 1, ...: give their members "
            f"metric.with_labels({codes})."
        )

    def _costs(self) -> NDArray[np.float64]:
        """Return the costs in the order of `classes_`."""
        k = len(self.classes_)
        if self.metric is None:
            return np.ones((k, k)) - np.eye(k)
        if isinstance(self.metric, ElicitedMetric):
            class_names(self.classes_, "y")
            try:
                order = self.metric.class_index.indices_of(self.classes_, "y")
            except InputError as error:
                raise InputError(f"{error}{self._how_to_encode(self.metric)}") from error
            return np.asarray(self.metric.cost_matrix[np.ix_(order, order)])
        classes = index_of_names(self.metric, [ClassIndex(self.classes_)], "metric")
        return checked_cost_matrix(matrix_of(self.metric, classes, "metric"))
