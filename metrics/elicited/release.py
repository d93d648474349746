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


class ReleaseList(NamedTuple):
    """The paper's two-level form of the release factors."""

    # the list R: each entry is (true class, released class, released class, ...), as indices of classes
    releases: tuple[tuple[int, ...], ...]
    factor: float  # the single release factor of all released errors, in [0, 1]; 1 if nothing is released
    error: float  # root mean squared difference to the given factors over the k^2 - k errors


def release_factors(cost_matrix: ArrayLike) -> Floats:
    """Return the release factors of the Meta Pattern Concern Score that correspond to a cost matrix (k, k).

    ``factor[i, j] = C[i, j] / max_j' C[i, j']``, in [0, 1]; 1 is full concern. The score distributes concern within one
    sample, so only the ratios within one true class matter (Wang, Du and Liu, "Meta Pattern Concern Score", equations 6
    to 8). The factor is 1 for the worst error of each class, throughout a row of zeros, and on the diagonal, where
    there is nothing to release. Raises InputError if the matrix is not a cost matrix.
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
    """Return the factors (k, k) of the best-fitting two-level form of the paper; see `release_list`."""
    from metrics.measures.concern import release_matrix

    found = release_list(factors)
    return release_matrix(found.releases, found.factor, len(np.asarray(factors)))


def release_list(factors: ArrayLike) -> ReleaseList:
    """Return the paper's two-level form, a list R and one factor, that best fits release factors (k, k).

    The fit is by least squares over all splits of the sorted factors of the errors. Errors below the split are released
    with the mean of their factors; the others keep full concern (factor 1). Ties go to the split that releases least.
    Raises InputError if the matrix is not square, or a factor lies outside [0, 1].
    """
    matrix = square_matrix(factors, "factors")
    errors = error_cells(len(matrix))
    values = np.unique(matrix[errors])
    if values[0] < 0 or values[-1] > 1:
        raise InputError(f"factors: release factors lie in [0, 1], found {values[0]:g} to {values[-1]:g}.")
    best_cells, best_factor, best_loss = np.zeros_like(errors), 1.0, float(((matrix[errors] - 1) ** 2).sum())
    for threshold in values[values < 1]:
        released = errors & (matrix <= threshold)
        factor = float(matrix[released].mean())
        loss = float(((matrix[released] - factor) ** 2).sum() + ((matrix[errors & ~released] - 1) ** 2).sum())
        if loss < best_loss:
            best_cells, best_factor, best_loss = released, factor, loss
    releases = tuple((i, *map(int, np.flatnonzero(row))) for i, row in enumerate(best_cells) if row.any())
    return ReleaseList(releases, best_factor, math.sqrt(best_loss / int(errors.sum())))
