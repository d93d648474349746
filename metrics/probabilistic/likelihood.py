"""Losses of predicted probabilities: negative log-likelihood [M589] and the squared error of [W22].

Sources: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst [M589]; Y. Wang, D. Du, Y. Liu, "Meta
Pattern Concern Score", IEEE SMC 2023 [W22].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.batches import (
    Codes,
    Floats,
    ProbabilityAccumulator,
    Totals,
    labelled_probabilities,
    total_weight,
    weighted_sum,
)
from metrics.inputs.arguments import class_weights
from metrics.inputs.class_index import ClassIndex
from metrics.inputs.probabilities import Probabilities


class LogLikelihood(ProbabilityAccumulator):
    """The mean negative log-likelihood, taking its cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    class_weight : array-like of shape (k,) or mapping of label to weight, optional
        Weight of a case in the mean by its true class.
    """

    def __init__(
        self, classes: int | ArrayLike | ClassIndex, *, class_weight: ArrayLike | Mapping[Any, float] | None = None
    ) -> None:
        super().__init__(classes)
        self.class_weight = None if class_weight is None else class_weights(class_weight, self.classes)

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        own = proba[np.arange(len(true)), true]
        loss = -np.log(np.clip(own, np.finfo(proba.dtype).eps, 1).astype(np.float64, copy=False))
        if self.class_weight is not None:
            by_class = self.class_weight[true]
            weight = by_class if weight is None else weight * by_class
        return {"loss": weighted_sum(loss, weight), "weight": total_weight(true, weight)}

    def result(self) -> float:
        """Return the mean; lower is better."""
        return float(self.value("loss")) / self.weight() + 0.0  # + 0.0 turns -0.0 into 0.0


class SquaredError(ProbabilityAccumulator):
    """The mean squared error of the probabilities, taking its cases in batches.

    Parameters
    ----------
    classes : int, array-like of shape (k,) or ClassIndex
        The k labels in the order of the columns.
    """

    def totals(self, true: Codes, proba: Probabilities, weight: Floats | None) -> Totals:
        """Return the sums over some cases."""
        gap = proba.astype(np.float64)
        gap[np.arange(len(true)), true] -= 1
        return {"error": weighted_sum(np.einsum("ij,ij->i", gap, gap), weight), "weight": total_weight(true, weight)}

    def result(self) -> float:
        """Return sum (p - onehot)^2 / (2 n); lower is better."""
        return float(self.value("error")) / (2 * self.weight())


def negative_log_likelihood(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    class_weight: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean negative log-likelihood of the true classes, -ln p[y] [M589]; also called log loss.

    With class weights w: sum_i w[y_i] (-ln p_i[y_i]) / sum_i w[y_i], which equals log loss with sample weights w[y].

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, k)
        Predicted probabilities; rows sum to 1. As in scikit-learn, one below the smallest step of its precision at 1
        (2.2e-16 in float64, 1.2e-7 in float32) counts as that step: a true class that was given no chance at all costs
        36.04 or 15.94, not infinity.
    class_weight : array-like of shape (k,) or mapping of label to weight, optional
        Weights of the true classes, in any scale.
    labels : array-like of shape (k,), optional
        What the columns stand for, in order; see `metrics.inputs.class_index` for the rule without it.
    sample_weight : array-like of shape (n,), optional
        Weights of the cases.

    Returns
    -------
    float
        >= 0; lower is better.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    return LogLikelihood(classes, class_weight=class_weight).update(true, proba, sample_weight=sample_weight).result()


def probability_squared_error(
    y_true: ArrayLike, y_proba: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Return the MS of [W22], sum (p - onehot)^2 / (2 n): half the Brier score of several classes.

    Parameters
    ----------
    y_true, y_proba, labels, sample_weight
        As in `negative_log_likelihood`, and refused as there.

    Returns
    -------
    float
        In [0, 1]; lower is better.
    """
    true, proba, classes = labelled_probabilities(y_true, y_proba, labels)
    return SquaredError(classes).update(true, proba, sample_weight=sample_weight).result()
