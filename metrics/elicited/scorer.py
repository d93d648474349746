"""A scikit-learn scorer on probabilities that takes the order of the columns from the estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED


class ExpectedCostScorer(BaseEstimator):  # type: ignore[misc]
    """The negated expected cost of an estimator's probabilities; see `ElicitedMetric.as_scorer`.

    A scorer made by `sklearn.metrics.make_scorer` would receive only one of two columns, and no classes.

    Parameters
    ----------
    expected_score : callable
        `ElicitedMetric.expected_score` of the metric.
    """

    # BaseEstimator provides set_score_request, which routes sample weights.
    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(self, expected_score: Callable[..., float]) -> None:
        self.expected_score = expected_score

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score; greater is better."""
        return self.score(estimator, X, y, sample_weight)

    def score(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score; greater is better.

        Parameters
        ----------
        estimator : fitted classifier
            With `predict_proba` and `classes_`.
        X : array-like of shape (n, features)
            Cases.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        float
            At most 0.
        """
        proba = estimator.predict_proba(X)
        return -self.expected_score(y, proba, labels=list(estimator.classes_), sample_weight=sample_weight)
