"""From the weights of an elicited metric to costs, class weights and release factors, and back.

A weight vector belongs to a family of metrics (Hiranandani et al., "Multiclass Performance Metric Elicitation",
NeurIPS 2019, section 2): ``"dlpm"`` weighs the k hits, ``"lpm"`` the q = k^2 - k errors in row-major order. In every
matrix rows are true classes and columns are predicted classes. Functions of weights also take stacks of weight
vectors, of shape (..., n_weights), and then return stacks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.arguments import number_array, square_matrix

FAMILIES = ("dlpm", "lpm")

# Costs of a row that differ by less than this share of the largest cost are the same cost.
_SAME_COST = 1e-9


class ReleaseList(NamedTuple):
    """The paper's two-level form of the release factors.

    Parameters
    ----------
    releases : tuple of tuple of int
        The list R: each entry is (true class, released class, released class, ...), as indices of classes.
    factor : float
        The one release factor of all released errors, in [0, 1]; 1 where nothing is released.
    error : float
        Root mean squared difference to the given factors over the k^2 - k errors.
    """

    releases: tuple[tuple[int, ...], ...]
    factor: float
    error: float


def n_classes_of(weights: ArrayLike, family: str) -> int:
    """Return the number of classes that a weight vector is for.

    Parameters
    ----------
    weights : array-like of shape (..., n_weights)
        n_weights is k for ``"dlpm"`` and k^2 - k for ``"lpm"``.
    family : {"dlpm", "lpm"}
        The family of the metric.

    Returns
    -------
    int
        k, at least 2.

    Raises
    ------
    InputError
        For an unknown family, or a number of weights that no number of classes gives.
    """
    return _classes(_weights(weights), family)


def normalise_weights(weights: ArrayLike, family: str) -> NDArray[np.float64]:
    """Bring weights to their family's normalisation: ``"dlpm"`` to sum 1, ``"lpm"`` to L2 norm 1.

    Parameters
    ----------
    weights : array-like of shape (..., n_weights)
        ``"dlpm"``: weights of the hits, none negative; ``"lpm"``: weights of the errors, none positive.
    family : {"dlpm", "lpm"}
        The family of the metric.

    Returns
    -------
    ndarray of shape (..., n_weights)
        The weights divided by their sum or norm.

    Raises
    ------
    InputError
        For wrong shapes, weights that are not finite, a wrong sign, or weights that are all zero.
    """
    checked = _signed(weights, family)
    largest = np.abs(checked).max(axis=-1, keepdims=True)
    scaled = checked / largest  # so that no square over- or underflows
    size = scaled.sum(axis=-1, keepdims=True) if family == "dlpm" else np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.asarray(scaled / size + 0.0)  # + 0.0 turns -0.0 into 0.0


def weight_matrix(weights: ArrayLike, family: str) -> NDArray[np.float64]:
    """Return W with the utility of a confusion matrix R (as rates) being ``(W * R).sum()``, greater is better.

    Parameters
    ----------
    weights : array-like of shape (..., n_weights)
        Weights as they are; nothing is normalised.
    family : {"dlpm", "lpm"}
        ``"dlpm"``: W is diag(weights); ``"lpm"``: the off-diagonal entries of W are the weights, row-major.

    Returns
    -------
    ndarray of shape (..., k, k)
        Rows are true classes, columns are predicted classes.

    Raises
    ------
    InputError
        For an unknown family or a wrong number of weights.
    """
    values = _weights(weights)
    k = _classes(values, family)
    matrix = np.zeros((*values.shape[:-1], k, k))
    cells = np.eye(k, dtype=bool) if family == "dlpm" else ~np.eye(k, dtype=bool)
    matrix[..., cells] = values
    return matrix


def cost_matrix_from_weights(weights: ArrayLike, family: str) -> NDArray[np.float64]:
    """Return the cost matrix that orders confusion matrices of equal prevalence as the weights do.

    ``"lpm"``: C[i, j] = -a_ij. ``"dlpm"``: C[i, j] = a_i for every j != i, because an error on class i loses the reward
    of a hit. Both are scaled so that the largest cost is 1.

    Parameters
    ----------
    weights : array-like of shape (..., n_weights)
        Weights of the family, in any positive scale.
    family : {"dlpm", "lpm"}
        The family of the metric.

    Returns
    -------
    ndarray of shape (..., k, k)
        Costs in [0, 1] with a zero diagonal; rows are true classes, columns are predicted classes.

    Raises
    ------
    InputError
        For wrong shapes, weights that are not finite, a wrong sign, or weights that are all zero.
    """
    checked = np.abs(_signed(weights, family))
    checked = checked / checked.max(axis=-1, keepdims=True)
    k = _classes(checked, family)
    if family == "dlpm":
        return np.asarray(checked[..., :, np.newaxis] * ~np.eye(k, dtype=bool))
    return weight_matrix(checked, family)


def weights_from_cost_matrix(cost_matrix: ArrayLike, family: str) -> NDArray[np.float64]:
    """Return the weights, in the family's normalisation, that a cost matrix stands for.

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Costs >= 0 with a zero diagonal, in any scale; rows are true classes, columns are predicted classes.
    family : {"dlpm", "lpm"}
        ``"dlpm"`` needs the same cost for every wrong answer of the same true class.

    Returns
    -------
    ndarray of shape (n_weights,)
        k weights of sum 1 (``"dlpm"``) or k^2 - k weights <= 0 of norm 1 (``"lpm"``).

    Raises
    ------
    InputError
        For a matrix that is not a cost matrix, is all zero, or has rows that ``"dlpm"`` cannot express.
    """
    _known(family)
    costs = checked_cost_matrix(cost_matrix)
    k = len(costs)
    errors = costs[~np.eye(k, dtype=bool)]
    if not errors.any():
        raise InputError("cost_matrix: every cost is 0, so no error is worse than a right answer; give at least one.")
    if family == "lpm":
        return normalise_weights(0.0 - errors, family)
    rows = errors.reshape(k, k - 1)
    for i, row in enumerate(rows):
        if row.max() - row.min() > _SAME_COST * errors.max():
            raise InputError(
                f"cost_matrix: row {i} holds different costs ({row.min():g} to {row.max():g}), and family 'dlpm' has "
                "one cost for every wrong answer of a true class; use family 'lpm'."
            )
    return normalise_weights(rows.max(axis=1), family)


def class_weight_from_weights(weights: ArrayLike, family: str) -> NDArray[np.float64]:
    """Return one weight per true class, with mean 1: how much the class's worst error matters.

    Parameters
    ----------
    weights : array-like of shape (..., n_weights)
        Weights of the family, in any positive scale.
    family : {"dlpm", "lpm"}
        ``"dlpm"``: proportional to the weights; ``"lpm"``: proportional to the largest cost of each row.

    Returns
    -------
    ndarray of shape (..., k)
        Class weights >= 0; 0 for a class whose errors cost nothing.

    Raises
    ------
    InputError
        For wrong shapes, weights that are not finite, a wrong sign, or weights that are all zero.
    """
    largest = cost_matrix_from_weights(weights, family).max(axis=-1)
    return np.asarray(largest / largest.mean(axis=-1, keepdims=True))


def release_factors(cost_matrix: ArrayLike) -> NDArray[np.float64]:
    """Return the release factors of the Meta Pattern Concern Score that a cost matrix stands for.

    ``factor[i, j] = C[i, j] / max_j' C[i, j']``: the score divides concern within one sample, so only the ratios inside
    one true class matter (Wang, Du and Liu, "Meta Pattern Concern Score", equations 6 to 8).

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Costs >= 0 with a zero diagonal, in any scale; rows are true classes, columns are predicted classes.

    Returns
    -------
    ndarray of shape (k, k)
        Factors in [0, 1]; 1 is full concern: for the worst error of each class, in a row of zeros, and on the diagonal,
        where there is nothing to release.

    Raises
    ------
    InputError
        For a matrix that is not a cost matrix.
    """
    costs = checked_cost_matrix(cost_matrix)
    worst = costs.max(axis=1, keepdims=True)
    factors: NDArray[np.float64] = np.divide(costs, worst, out=np.ones_like(costs), where=worst > 0)
    np.fill_diagonal(factors, 1.0)
    return factors


def release_list(factors: ArrayLike) -> ReleaseList:
    """Return the paper's two-level form that fits release factors best: a list R and one factor.

    Least squares over all splits of the sorted factors of the errors: those below the split are released with their
    mean, the others keep full concern (factor 1). Of equal fits the one that releases least is taken.

    Parameters
    ----------
    factors : array-like of shape (k, k)
        Release factors in [0, 1]; the diagonal does not matter.

    Returns
    -------
    ReleaseList
        The list R as tuples of class indices (true, released, ...), the factor, and the error of the fit.

    Raises
    ------
    InputError
        For a matrix that is not square, or factors outside [0, 1].
    """
    matrix = square_matrix(factors, "factors")
    k = len(matrix)
    errors = ~np.eye(k, dtype=bool)
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


def checked_cost_matrix(cost_matrix: ArrayLike) -> NDArray[np.float64]:
    """Return the cost matrix as floats, or say what is wrong with it.

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k)
        Rows are true classes, columns are predicted classes; k is at least 2.

    Returns
    -------
    ndarray of shape (k, k)
        The same costs.

    Raises
    ------
    InputError
        Where the matrix is not square, a cost is not finite or negative, or the diagonal is not zero.
    """
    costs = square_matrix(cost_matrix)
    if (costs < 0).any():
        i, j = map(int, np.argwhere(costs < 0)[0])
        raise InputError(f"cost_matrix, entry [{i}, {j}]: a cost >= 0 was expected, found {costs[i, j]:g}.")
    if np.diag(costs).any():
        i = int(np.flatnonzero(np.diag(costs))[0])
        raise InputError(
            f"cost_matrix, entry [{i}, {i}]: a right answer costs 0, so the diagonal must be 0; found {costs[i, i]:g}."
        )
    return costs


def _known(family: str) -> None:
    if family not in FAMILIES:
        raise InputError(f"family is {family!r}; weights are known for the families {' and '.join(FAMILIES)}.")


def _weights(weights: ArrayLike) -> NDArray[np.float64]:
    values = number_array(weights, "weights", finite=False)
    if values.ndim == 0:
        raise InputError("weights: a sequence of weights was expected, not a single one.")
    return values


def _classes(weights: NDArray[np.float64], family: str) -> int:
    _known(family)
    n = weights.shape[-1]
    k = n if family == "dlpm" else (1 + math.isqrt(1 + 4 * n)) // 2
    if k < 2 or (family == "lpm" and k * (k - 1) != n):
        expected = "one per class, at least 2" if family == "dlpm" else "k^2 - k for k classes: 2, 6, 12, 20, ..."
        raise InputError(f"weights: {n} numbers were given; family {family!r} takes {expected}.")
    return k


def _signed(weights: ArrayLike, family: str) -> NDArray[np.float64]:
    values = _weights(weights)
    _classes(values, family)
    if not np.isfinite(values).all():
        raise InputError("weights: every weight must be a finite number.")
    wrong = values < 0 if family == "dlpm" else values > 0
    if wrong.any():
        found = float(values[wrong][0])
        rule = "weighs hits: none is negative" if family == "dlpm" else "weighs errors: none is positive"
        raise InputError(f"weights: {found:g} has the wrong sign; family {family!r} {rule}.")
    if not values.any(axis=-1).all():
        raise InputError("weights: all are 0; at least one must not be.")
    return values
