"""Families of metrics: the mistakes they distinguish, what they weigh, and the conversion of weights to costs and back.

A family is a way to weigh a confusion matrix linearly (Hiranandani et al., "Multiclass Performance Metric
Elicitation", NeurIPS 2019, section 2). ``"dlpm"`` weighs the k hits, ``"lpm"`` the q = k^2 - k errors in row-major
order. In every matrix rows are true classes and columns are predicted classes. Methods that take weights or matrices
also take stacks of them and then return stacks.

Examples
--------
>>> from metrics.elicited.family import DLPM, LPM, family_of
>>> family_of("dlpm") is DLPM
True
>>> LPM.mistakes(2)
(MistakeKey(true=0, predicted=1), MistakeKey(true=1, predicted=0))
>>> LPM.costs([-1.0, -4.0]).tolist()
[[0.0, 0.25], [1.0, 0.0]]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError
from metrics.inputs.arguments import Floats, number_array, square_matrix

FamilyName = Literal["dlpm", "lpm"]
Places = NDArray[np.intp]

# Costs in a row that differ by less than this share of the largest cost count as equal.
_SAME_COST = 1e-9


class MistakeKey(NamedTuple):
    """One kind of mistake, as indices of classes."""

    true: int  # the true class
    predicted: int | None  # the predicted class; None stands for any wrong answer for that truth (family "dlpm")


RARE = 4.0  # a class is rare if another one is so many times as frequent


def rare_class(shares: Floats) -> int | None:
    """Return the index of the rarest class, from shares of shape (k,), if it is rare; else None.

    >>> rare_class(np.array([0.6, 0.1, 0.3])), rare_class(np.array([0.6, 0.2, 0.2]))
    (1, None)
    """
    return int(shares.argmin()) if shares.max() >= RARE * shares.min() else None


@lru_cache
def error_cells(k: int) -> NDArray[np.bool_]:
    """Return a read-only mask of shape (k, k) that is true off the diagonal.

    >>> error_cells(2).tolist()
    [[False, True], [True, False]]
    """
    cells = ~np.eye(k, dtype=bool)
    cells.flags.writeable = False
    return cells


@dataclass(frozen=True)
class Family(ABC):
    """A family of metrics; there are two, `DLPM` and `LPM`."""

    name: FamilyName  # its name in files and on the command line
    sign: Literal[1, -1]  # sign of the weights: hits have value (1), errors have a cost (-1)
    rule: str  # the assumption of the family, in an expert's words
    distinguishes_errors: bool  # whether it distinguishes wrong answers for the same truth
    normalised: str  # the normalisation, as a verb phrase about the weights: "sum to 1"

    @abstractmethod
    def mistakes(self, k: int) -> tuple[MistakeKey, ...]:
        """Return the mistakes that the family distinguishes, in the order of its weights."""

    @abstractmethod
    def n_classes(self, n_weights: int) -> int:
        """Return the number of classes, at least 2, that has the given number of weights.

        Raises InputError if no number of classes has that many weights.
        """

    @abstractmethod
    def coordinates(self, matrix: ArrayLike) -> Floats:
        """Return the entries of confusion matrices that the family weighs: (..., k, k) to (..., n_weights)."""

    @abstractmethod
    def weight_matrix(self, weights: ArrayLike) -> Floats:
        """Return W, shape (..., k, k), such that the utility of a confusion matrix R of rates is ``(W * R).sum()``.

        Greater is better. The weights are not normalised. Raises InputError if the number of weights is wrong.
        """

    @abstractmethod
    def on_errors(self, values: ArrayLike) -> Floats:
        """Return matrices (..., k, k) with the value of each mistake in its cells and zeros on the diagonal."""

    @abstractmethod
    def of_errors(self, matrix: ArrayLike) -> Floats:
        """Return the value of each mistake, (..., n_weights), from matrices; the inverse of `on_errors`."""

    @abstractmethod
    def mistake_at(self, true: int, predicted: int) -> MistakeKey:
        """Return the mistake to which a cell of the matrix belongs."""

    @abstractmethod
    def index(self, true: int, predicted: int | None, k: int) -> int:
        """Return the index of a mistake among the weights."""

    @abstractmethod
    def places(self, true: Places, predicted: Places, k: int) -> Places:
        """Return the indices of many mistakes among the weights; classes are given as arrays of one shape."""

    @abstractmethod
    def misses(self, matrix: ArrayLike) -> Floats:
        """Return the frequency of each mistake in confusion matrices: (..., k, k) to (..., n_weights)."""

    @abstractmethod
    def _size(self, scaled: Floats) -> Floats:
        """Return the divisor of the normalisation, the sum or the norm of the weights, shape (..., 1)."""

    def n_weights(self, k: int) -> int:
        """Return the number of weights for k classes."""
        return len(self.mistakes(k))

    def cell(self, key: MistakeKey) -> tuple[int, int]:
        """Return one cell of the cost matrix that holds the mistake's cost."""
        return key.true, (1 if key.true == 0 else 0) if key.predicted is None else key.predicted

    def normalise(self, weights: ArrayLike) -> Floats:
        """Return weights (..., n_weights) divided by their sum ("dlpm") or norm ("lpm"). Raises InputError as `signed`.

        >>> DLPM.normalise([1, 3]).tolist()
        [0.25, 0.75]
        """
        checked = self.signed(weights)
        largest = checked.max(axis=-1, keepdims=True) if self.sign > 0 else -checked.min(axis=-1, keepdims=True)
        scaled = np.asarray(checked / largest)  # prevents squares from over- or underflowing
        scaled /= self._size(scaled)
        scaled += 0.0  # turns -0.0 into 0.0
        return scaled

    def costs(self, weights: ArrayLike) -> Floats:
        """Return the cost matrix, (..., k, k), that ranks confusion matrices of equal prevalence as the weights do.

        "lpm": C[i, j] = -a_ij. "dlpm": C[i, j] = a_i for every j != i, because an error on class i loses the reward of
        a hit. Both are scaled so that the largest cost is 1. Raises InputError as `signed`.
        """
        sizes = np.abs(self.signed(weights))
        sizes /= sizes.max(axis=-1, keepdims=True)
        return self.on_errors(sizes)

    def weights(self, cost_matrix: ArrayLike) -> Floats:
        """Return the normalised weights, (n_weights,), that correspond to a cost matrix (k, k) in any scale.

        Raises InputError if it is not a cost matrix, is all zero, or has different costs in one row, which "dlpm"
        cannot express.
        """
        costs = checked_cost_matrix(cost_matrix)
        if not costs.any():
            raise InputError(
                "cost_matrix: every cost is 0, so no error is worse than a right answer; give at least one."
            )
        values = self.of_errors(costs)
        differs = np.abs(self.on_errors(values) - costs).max(axis=1) > _SAME_COST * costs.max()
        if differs.any():
            i = int(np.argmax(differs))
            row = costs[i, error_cells(len(costs))[i]]
            raise InputError(
                f"cost_matrix: row {i} holds different costs ({row.min():g} to {row.max():g}), and family 'dlpm' has "
                "one cost for every wrong answer of a true class; use family 'lpm'."
            )
        return self.normalise(self.sign * values + 0.0)

    def class_weight(self, weights: ArrayLike) -> Floats:
        """Return one weight >= 0 per true class, (..., k), with mean 1, proportional to the cost of its worst error.

        Raises InputError as `signed`.
        """
        largest = self.costs(weights).max(axis=-1)
        return np.asarray(largest / largest.mean(axis=-1, keepdims=True))

    def _checked(self, weights: ArrayLike) -> tuple[Floats, int]:
        """Return the weights as numbers, and the number of classes."""
        values = number_array(weights, "weights", finite=False)
        if values.ndim == 0:
            raise InputError("weights: a sequence of weights was expected, not a single one.")
        return values, self.n_classes(values.shape[-1])

    def signed(self, weights: ArrayLike) -> Floats:
        """Return the weights as an array, shape (..., n_weights), after checking their number and signs.

        Raises InputError if a shape is wrong, a weight is not finite or has the wrong sign, or all weights are zero.
        """
        values, _ = self._checked(weights)
        if not np.isfinite(values).all():
            raise InputError("weights: every weight must be a finite number.")
        wrong = values < 0 if self.sign > 0 else values > 0
        if wrong.any():
            rule = "weighs hits: none is negative" if self.sign > 0 else "weighs errors: none is positive"
            found = float(values[wrong][0])
            raise InputError(f"weights: {found:g} has the wrong sign; family {self.name!r} {rule}.")
        if not values.any(axis=-1).all():
            raise InputError("weights: all are 0; at least one must not be.")
        return values


@final
class _Hits(Family):
    """Weights of the hits: all wrong answers for the same truth are equally bad."""

    def mistakes(self, k: int) -> tuple[MistakeKey, ...]:
        return tuple(MistakeKey(i, None) for i in range(k))

    def n_classes(self, n_weights: int) -> int:
        if n_weights < 2:
            raise InputError(f"weights: {n_weights} numbers were given; family 'dlpm' takes one per class, at least 2.")
        return n_weights

    def coordinates(self, matrix: ArrayLike) -> Floats:
        return np.diagonal(np.asarray(matrix, dtype=np.float64), axis1=-2, axis2=-1)

    def weight_matrix(self, weights: ArrayLike) -> Floats:
        values, k = self._checked(weights)
        return np.asarray(values[..., np.newaxis] * np.eye(k))

    def on_errors(self, values: ArrayLike) -> Floats:
        checked, k = self._checked(values)
        return np.where(error_cells(k), checked[..., np.newaxis], 0.0)

    def of_errors(self, matrix: ArrayLike) -> Floats:
        values = np.asarray(matrix, dtype=np.float64)
        return np.asarray(np.where(error_cells(values.shape[-1]), values, -np.inf).max(axis=-1))

    def mistake_at(self, true: int, predicted: int) -> MistakeKey:
        return MistakeKey(true, None)

    def index(self, true: int, predicted: int | None, k: int) -> int:
        return true

    def places(self, true: Places, predicted: Places, k: int) -> Places:
        return true

    def misses(self, matrix: ArrayLike) -> Floats:
        values = np.asarray(matrix, dtype=np.float64)
        return np.asarray(values.sum(axis=-1) - self.coordinates(values))

    def _size(self, scaled: Floats) -> Floats:
        return np.asarray(scaled.sum(axis=-1, keepdims=True))


@lru_cache(maxsize=4)
def _all_mistakes(k: int) -> tuple[MistakeKey, ...]:
    return tuple(MistakeKey(i, j) for i in range(k) for j in range(k) if i != j)


@final
class _Errors(Family):
    """Weights of the errors: some wrong answers for the same truth hurt more than others."""

    def mistakes(self, k: int) -> tuple[MistakeKey, ...]:
        return _all_mistakes(k)

    def n_classes(self, n_weights: int) -> int:
        k = (1 + math.isqrt(1 + 4 * n_weights)) // 2
        if k < 2 or k * (k - 1) != n_weights:
            raise InputError(
                f"weights: {n_weights} numbers were given; family 'lpm' takes k^2 - k for k classes: 2, 6, 12, 20, ..."
            )
        return k

    def coordinates(self, matrix: ArrayLike) -> Floats:
        values = np.asarray(matrix, dtype=np.float64)
        return np.asarray(values[..., error_cells(values.shape[-1])])

    def weight_matrix(self, weights: ArrayLike) -> Floats:
        return self.on_errors(weights)

    def on_errors(self, values: ArrayLike) -> Floats:
        checked, k = self._checked(values)
        matrix: Floats = np.zeros((*checked.shape[:-1], k, k))
        matrix[..., error_cells(k)] = checked
        return matrix

    def of_errors(self, matrix: ArrayLike) -> Floats:
        return self.coordinates(matrix)

    def mistake_at(self, true: int, predicted: int) -> MistakeKey:
        return MistakeKey(true, predicted)

    def index(self, true: int, predicted: int | None, k: int) -> int:
        if predicted is None:
            raise InputError(
                f"family 'lpm' distinguishes the wrong answers for class {true}; name the predicted class."
            )
        return true * (k - 1) + predicted - (predicted > true)

    def places(self, true: Places, predicted: Places, k: int) -> Places:
        return np.asarray(true * (k - 1) + predicted - (predicted > true))

    def misses(self, matrix: ArrayLike) -> Floats:
        return self.coordinates(matrix)

    def _size(self, scaled: Floats) -> Floats:
        return np.asarray(np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True)))


DLPM: Family = _Hits("dlpm", 1, "all wrong answers for the same truth are equally bad", False, "sum to 1")
LPM: Family = _Errors("lpm", -1, "some wrong answers for the same truth hurt more than others", True, "have L2 norm 1")


_NUMERATORS = {"dlfpm": "dlpm", "lfpm": "lpm"}


def family_of(name: str) -> Family:
    """Return the family of the name used in files, "dlpm" or "lpm". Raises InputError if the name is unknown."""
    for family in (DLPM, LPM):
        if family.name == name:
            return family
    raise InputError(f"family is {name!r}; weights are known for the families dlpm and lpm.")


def linear_family(name: str) -> Family:
    """Return the linear family with the same coordinates as a linear or linear-fractional one: `DLPM` for "dlfpm".

    Linear-fractional metrics are quotients of two linear ones. Raises InputError if the name is unknown.

    >>> linear_family("lfpm").name
    'lpm'
    """
    return family_of(_NUMERATORS.get(name, name))


def is_fraction(name: str) -> bool:
    """Return whether a family is linear-fractional, so that its metrics have no cost matrix.

    >>> is_fraction("dlfpm"), is_fraction("dlpm")
    (True, False)
    """
    return name in _NUMERATORS


def fraction_family(name: str) -> str:
    """Return the name of the linear-fractional family with the same coordinates as a family, maybe its own.

    >>> fraction_family("lpm")
    'lfpm'
    """
    weighs = linear_family(name).name
    return next(fraction for fraction, linear in _NUMERATORS.items() if linear == weighs)


def checked_cost_matrix(cost_matrix: ArrayLike) -> Floats:
    """Return a cost matrix, shape (k, k) with k >= 2, as floats.

    Raises InputError if it is not square, a cost is negative or not finite, or the diagonal is not zero.
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
