"""What is counted in a study: prevalence, the population to show, and the mistake others are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elicit_app.problem import Problem
from elicit_app.study.checking import SUM_RANGE
from elicit_app.study.model import Distribution, Predictions
from metrics.elicited.family import error_cells

POPULATIONS = (100, 1_000, 10_000, 100_000)
_RAREST = 50

Rates = NDArray[np.float64]


def confusion_rates(y_true: NDArray[np.int64], decisions: NDArray[np.int64], n_classes: int) -> Rates:
    """Return the confusion matrix of counted decisions as rates, shape (k, k), sum 1; rows are true classes."""
    cells = np.bincount(y_true * n_classes + decisions, minlength=n_classes * n_classes)
    return cells.reshape(n_classes, n_classes) / max(len(y_true), 1)


def prevalence_of(models: Sequence[Predictions], distribution: Distribution | None, n_classes: int) -> Rates:
    """Return the prevalence of each class, shape (k,), sum 1: counted from the cases, or that of the distribution."""
    if distribution is not None:
        mean: Rates = distribution.eta.mean(axis=0)
        return mean
    return np.bincount(models[0].y_true, minlength=n_classes) / len(models[0].y_true)


def normalised_prevalence(stated: Sequence[float], n_classes: int) -> tuple[float, ...]:
    """Return a stated prevalence that adds up to exactly 1.

    Parameters
    ----------
    stated : sequence of k floats
        Between 0 and 1, adding up to 0.99 to 1.01.
    n_classes : int
        k.

    Raises
    ------
    Problem
        The numbers are no prevalence of k classes.
    """
    if len(stated) != n_classes or not all(0 < share < 1 for share in stated):
        raise Problem(f"The stated prevalence must be {n_classes} numbers between 0 and 1, one a class.")
    total = math.fsum(stated)
    if not SUM_RANGE[0] <= total <= SUM_RANGE[1]:
        raise Problem(f"The stated prevalence must add up to 1, not to {total:.4g}.")
    return tuple(share / total for share in stated)


def population_for(prevalence: NDArray[np.float64] | Sequence[float]) -> int:
    """Return the smallest of 100, 1,000, 10,000 and 100,000 that shows at least 50 cases of the rarest class.

    Parameters
    ----------
    prevalence : array-like of shape (k,)
        Rates of the classes.

    Returns
    -------
    int
        100,000 where even that shows fewer.
    """
    rarest = float(min(prevalence))
    return next((size for size in POPULATIONS if round(rarest * size, 6) >= _RAREST), POPULATIONS[-1])


def yardstick_for(
    models: Sequence[Predictions], distribution: Distribution | None, prevalence: NDArray[np.float64] | None = None
) -> tuple[int, int]:
    """Return (true, predicted) of the most frequent mistake of the models' most probable answers.

    Parameters
    ----------
    models : sequence of Predictions
        Their matrices are added up.
    distribution : Distribution or None
        For a synthetic study: the rule that always gives the most probable class.
    prevalence : ndarray of shape (k,), optional
        Stated row sums that replace those of the data.

    Returns
    -------
    tuple of int
        Of equally frequent mistakes the first in row-major order.
    """
    if distribution is not None:
        n_classes = distribution.eta.shape[1]
        chosen = np.eye(n_classes)[distribution.eta.argmax(axis=1)]
        rates = distribution.eta.T @ chosen / len(distribution.eta)
    else:
        n_classes = models[0].y_proba.shape[1]
        rates = sum(
            (confusion_rates(model.y_true, model.y_proba.argmax(axis=1), n_classes) for model in models),
            start=np.zeros((n_classes, n_classes)),
        )
    if prevalence is not None:
        sums = rates.sum(axis=1)
        rates = rates * np.divide(prevalence, sums, out=np.zeros(n_classes), where=sums > 0)[:, None]
    errors = np.where(error_cells(n_classes), rates, -1.0)
    true, predicted = divmod(int(errors.argmax()), n_classes)
    return true, predicted
