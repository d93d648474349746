"""Natural frequencies: a confusion matrix as whole cases out of a population."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.arguments import square_matrix, whole_number

# Remainders are compared at this many decimals, so that floating-point noise does not break a tie.
_DECIMALS = 6


def natural_frequencies(matrix: ArrayLike, population: int) -> NDArray[np.int64]:
    """Scale a confusion matrix to whole cases out of a population, row sums kept.

    The row sums are apportioned first, by largest remainder, then each row within its sum. So two matrices of the same
    prevalence get the same row sums. Of equal remainders the lower index is rounded up.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Counts or rates >= 0; rows are true classes, columns are predicted classes. Only proportions matter.
    population : int
        Number of cases, at least 1.

    Returns
    -------
    ndarray of int64, shape (k, k)
        Whole cases that sum to `population`; each entry is less than one case away from its exact share of its row.

    Raises
    ------
    InputError
        Where the matrix is not square, holds a negative or non-finite entry, or sums to 0; where population < 1.
    TypeError
        Where population is not a whole number.
    """
    total = whole_number(population, "population", 1)
    values = square_matrix(matrix, "matrix", 1)
    if (values < 0).any():
        raise InputError("matrix: a confusion matrix holds no negative numbers.")
    if not values.any():
        raise InputError("matrix: every entry is 0, so there are no cases to scale.")
    rows = _apportion(values.sum(axis=1), total)
    return np.stack([_apportion(row, int(n)) for row, n in zip(values, rows, strict=True)])


def _apportion(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Split `total` in proportion to `shares` by largest remainder; ties go to the lower index."""
    if total == 0:
        return np.zeros(len(shares), dtype=np.int64)
    exact = np.round(shares / shares.sum() * total, _DECIMALS)
    whole: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    left = total - int(whole.sum())
    remainders = np.round(exact - whole, _DECIMALS)
    whole[np.argsort(-remainders, kind="stable")[:left]] += 1
    return whole
