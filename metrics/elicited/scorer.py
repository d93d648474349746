"""A scikit-learn scorer on probabilities that takes the order of the columns from the estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED


class ExpectedCostScorer(BaseEstimator):  # type: ignore[misc]
    """The negated `ElicitedMetric.expected_score` of an estimator's probabilities; see `ElicitedMetric.as_scorer`.

    A scorer made by `sklearn.metrics.make_scorer` would receive only one of two columns, and no classes.
    """

    # BaseEstimator provides set_score_request, which routes sample weights.
    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(self, expected_score: Callable[..., float]) -> None:
        self.expected_score = expected_score

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score; greater is better."""
        return self.score(estimator, X, y, sample_weight)

    def score(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score, at most 0, of a fitted classifier; greater is better."""
        proba = estimator.predict_proba(X)
        return -self.expected_score(y, proba, labels=list(estimator.classes_), sample_weight=sample_weight)
