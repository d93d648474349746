"""Release factors of the Meta Pattern Concern Score that correspond to a cost matrix, exact and in two levels."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metrics.elicited.family import checked_cost_matrix, error_cells
from metrics.elicited.metric_parts import ranges_of_draws
from metrics.errors import InputError
from metrics.inputs.arguments import Floats, square_matrix

ReleaseForm = Literal["graded", "list"]
_ROUNDING = 1e-6  # by which the losses of two splits may differ because sums are rounded


class ReleaseList(NamedTuple):
    """The paper's two-level form of the release factors.

    Parameters
    ----------
    releases : tuple of tuple of int
        The list R: each entry is (true class, released class, released class, ...), as indices of classes.
    factor : float
        The single release factor of all released errors, in [0, 1]; 1 if nothing is released.
    error : float
        Root mean squared difference to the given factors over the k^2 - k errors.
    """

    releases: tuple[tuple[int, ...], ...]
    factor: float
    error: float


def release_factors(cost_matrix: ArrayLike) -> Floats:
    """Return the release factors of the Meta Pattern Concern Score that correspond to a cost matrix.

    ``factor[i, j] = C[i, j] / max_j' C[i, j']``: the score distributes concern within one sample, so only the ratios
    within one true class matter (Wang, Du and Liu, "Meta Pattern Concern Score", equations 6 to 8).

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Costs >= 0 with a zero diagonal, in any scale; rows are true classes, columns are predicted classes.

    Returns
    -------
    ndarray of shape (k, k)
        Factors in [0, 1]; 1 is full concern. The factor is 1 for the worst error of each class, throughout a row of
        zeros, and on the diagonal, where there is nothing to release.

    Raises
    ------
    InputError
        If the matrix is not a cost matrix.
    """
    factors = _of_the_worst(checked_cost_matrix(cost_matrix))
    np.fill_diagonal(factors, 1.0)
    return factors


def factor_ranges(costs: Floats) -> Floats:
    """Return the 90 % ranges of release factors, (k, k, 2), over draws of the costs, (s, k, k); ignore the diagonal.

    One true class is handled at a time: with fifty classes a copy of all draws takes 20 MiB.
    """
    return np.array([ranges_of_draws(_of_the_worst(costs[:, true])) for true in range(costs.shape[1])])


def _of_the_worst(costs: Floats) -> Floats:
    worst = costs.max(axis=-1, keepdims=True)
    return np.asarray(np.divide(costs, worst, out=np.ones_like(costs), where=worst > 0))


def two_level_factors(factors: ArrayLike) -> Floats:
    """Return the factors of the best-fitting two-level form of the paper, shape (k, k).

    Parameters
    ----------
    factors : array-like of shape (k, k)
        As in `release_list`; the same inputs are rejected.
    """
    from metrics.measures.concern import release_matrix

    found = release_list(factors)
    return release_matrix(found.releases, found.factor, len(np.asarray(factors)))


def release_list(factors: ArrayLike) -> ReleaseList:
    """Return the paper's two-level form, a list R and one factor, that best fits release factors.

    The fit is by least squares over all splits of the sorted factors of the errors. Errors below the split are released
    with the mean of their factors; the others keep full concern (factor 1). Ties go to the split that releases least.

    Parameters
    ----------
    factors : array-like of shape (k, k)
        Release factors in [0, 1]; the diagonal is ignored.

    Returns
    -------
    ReleaseList
        The list R as tuples of class indices (true, released, ...), the factor, and the error of the fit.

    Raises
    ------
    InputError
        If the matrix is not square, or a factor lies outside [0, 1].
    """
    matrix = square_matrix(factors, "factors")
    errors = error_cells(len(matrix))
    values = np.unique(matrix[errors])
    if values[0] < 0 or values[-1] > 1:
        raise InputError(f"factors: release factors lie in [0, 1], found {values[0]:g} to {values[-1]:g}.")
    best_cells, best_factor, best_loss = np.zeros_like(errors), 1.0, float(((matrix[errors] - 1) ** 2).sum())
    for threshold in _near_best_splits(np.sort(matrix[errors]), values[values < 1]):
        released = errors & (matrix <= threshold)
        factor = float(matrix[released].mean())
        loss = float(((matrix[released] - factor) ** 2).sum() + ((matrix[errors & ~released] - 1) ** 2).sum())
        if loss < best_loss:
            best_cells, best_factor, best_loss = released, factor, loss
    releases = tuple((i, *map(int, np.flatnonzero(row))) for i, row in enumerate(best_cells) if row.any())
    return ReleaseList(releases, best_factor, math.sqrt(best_loss / int(errors.sum())))


def _near_best_splits(ordered: Floats, thresholds: Floats) -> Floats:
    """Return the thresholds of least loss, and those that only rounding tells from them, for the factors in order."""
    n = np.searchsorted(ordered, thresholds, side="right")
    if not len(n):
        return thresholds
    # Factors that are released lose their variance instead of their squared distance to 1: n (1 - mean)^2 less.
    saved = n * (1 - np.cumsum(ordered)[n - 1] / n) ** 2
    return np.asarray(thresholds[saved >= saved.max() - _ROUNDING])
