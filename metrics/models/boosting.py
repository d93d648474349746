"""An objective for LightGBM and XGBoost that trains by the costs of mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric

Floats = NDArray[np.float64]

_LEAST_CURVATURE = 1e-6


class ExpectedCostObjective:
    """Gradient and curvature of the expected misclassification cost, sum_j p_j C[y, j], p the softmax of the margins.

    Pass it as ``objective`` to `lightgbm.LGBMClassifier` or `xgboost.XGBClassifier`. The expected cost is not convex;
    in place of its curvature stands p_j (1 - p_j) times the largest cost, so that steps stay finite. Decide by the
    largest margin: these are no probabilities, and least-cost decisions on top would count the costs twice.

    Parameters
    ----------
    metric : ElicitedMetric
        What mistakes cost. Both libraries hand 0, ..., k-1 to an objective, in the sorted order of the labels: the
        metric's own labels sorted are these.

    Examples
    --------
    >>> from metrics import ElicitedMetric
    >>> objective = ExpectedCostObjective(ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [0.25, 0]]))
    >>> gradient, curvature = objective([0, 1], [0.0, 0.0])
    >>> gradient.tolist(), curvature.tolist()
    ([0.25, -0.0625], [0.25, 0.25])
    """

    def __init__(self, metric: ElicitedMetric) -> None:
        order = metric.class_index.indices_of(metric.class_index.sorted_names(), "labels")
        self.cost_matrix: Floats = metric.cost_matrix[np.ix_(order, order)]

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return gradient and curvature with respect to the margins.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Classes, 0..k-1.
        y_pred : array-like of shape (n,) or (n, k)
            Margins; of two classes that of the second.
        sample_weight : array-like of shape (n,), optional
            Weights of the cases.

        Returns
        -------
        tuple of two ndarray
            Of the shape of `y_pred`.

        Raises
        ------
        InputError
            Where the number of margins is not that of the classes.
        """
        margins, true = np.asarray(y_pred, dtype=np.float64), np.asarray(y_true).astype(np.intp)
        weight = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).reshape(-1, 1)
        table = margins.reshape(len(true), -1)
        two = table.shape[1] == 1
        if (2 if two else table.shape[1]) != len(self.cost_matrix):
            raise InputError(
                f"y_pred: margins of {len(self.cost_matrix)} classes were expected, found {margins.shape}."
            )
        table = np.hstack([np.zeros_like(table), table]) if two else table
        proba = np.exp(table - table.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        costs = self.cost_matrix[true]
        gradient = weight * proba * (costs - (proba * costs).sum(axis=1, keepdims=True))
        curvature = weight * np.maximum(proba * (1 - proba) * self.cost_matrix.max(), _LEAST_CURVATURE)
        kept = slice(1, None) if two else slice(None)
        return gradient[:, kept].reshape(margins.shape), curvature[:, kept].reshape(margins.shape)
