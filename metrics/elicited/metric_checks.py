"""What must hold inside an elicited metric; each fault is said in one sentence that names the field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.elicited.family import checked_cost_matrix, family_of
from metrics.errors import InputError

# Redundant numbers of a file may differ by this much, because people round what they write.
TOLERANCE = 1e-6

Floats = NDArray[np.float64]


def frozen(values: ArrayLike, name: str, shape: tuple[int | None, ...]) -> Floats:
    """Return a read-only float array of a given shape (None: any length) without NaN, or say what is wrong."""
    try:
        array: Floats = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        expected = " x ".join("any number" if n is None else str(n) for n in shape)
        raise InputError(f"{name}: {expected} numbers were expected")
    if np.isnan(array).any():
        raise InputError(f"{name}: holds NaN, every entry must be a number")
    array.flags.writeable = False
    return array


def checked_weights(weights: ArrayLike, family: str, k: int) -> Floats:
    """Return the weights, read-only, after a look at their number, signs and normalisation."""
    values = np.array(weights, dtype=np.float64)
    weigh = family_of(family)
    if values.shape != (weigh.n_weights(k),):
        raise InputError(f"weights: {weigh.n_weights(k)} numbers were expected for {k} classes of family {family!r}")
    if np.abs(weigh.normalise(values) - values).max() > TOLERANCE:
        rule = "sum to 1" if family == "dlpm" else "have L2 norm 1"
        raise InputError(f"weights: the weights of family {family!r} must {rule}")
    values.flags.writeable = False
    return values


def checked_costs(cost_matrix: ArrayLike, weights: Floats, family: str) -> Floats:
    """Return the cost matrix, read-only, after a look at its scale and its agreement with the weights."""
    expected = family_of(family).costs(weights)
    values = frozen(cost_matrix, "cost_matrix", expected.shape)
    checked_cost_matrix(values)
    if abs(values.max() - 1) > TOLERANCE:
        raise InputError(f"cost_matrix: the largest cost is {values.max():g}, it must be 1")
    if np.abs(values - expected).max() > TOLERANCE:
        if np.abs(values.T - expected).max() <= TOLERANCE:
            raise InputError("cost_matrix: is transposed: rows must be true classes, columns predicted classes")
        i, j = map(int, np.argwhere(np.abs(values - expected) > TOLERANCE)[0])
        raise InputError(
            f"cost_matrix: row {i}, column {j} holds {values[i, j]:g}, the weights give {expected[i, j]:g}; "
            "one of them was changed"
        )
    return values


def checked_intervals(intervals: ArrayLike, k: int) -> Floats:
    """Return the 90 % intervals of the cost-matrix entries, read-only; an upper end may be infinite."""
    values = frozen(intervals, "intervals", (k, k, 2))
    low, high = values[..., 0], values[..., 1]
    bad = ~np.isfinite(low) | (low < 0) | (high < low)
    if bad.any():
        i, j = map(int, np.argwhere(bad)[0])
        raise InputError(
            f"intervals: row {i}, column {j} holds [{low[i, j]:g}, {high[i, j]:g}]; 0 <= low <= high was expected"
        )
    return values


def checked_samples(samples: ArrayLike, family: str, n_weights: int) -> Floats:
    """Return the draws of the weights, read-only."""
    values = frozen(samples, "samples", (None, n_weights))
    if not len(values):
        raise InputError("samples: at least one draw was expected; leave the field out (null) where there are none")
    try:
        family_of(family).normalise(values)
    except ValueError as error:
        raise InputError(f"samples: {error}") from None
    return values


def checked_prevalence(prevalence: ArrayLike, k: int) -> Floats:
    """Return the shares of the true classes, read-only."""
    values = frozen(prevalence, "prevalence", (k,))
    if (values < 0).any() or abs(values.sum() - 1) > TOLERANCE:
        raise InputError("prevalence: shares of the true classes were expected, none negative, with sum 1")
    return values


def checked_mistake(true: str, predicted: str | None, classes: Sequence[str], name: str) -> None:
    """Refuse a mistake that is not one: an unknown class, or a right answer."""
    for label in (true, predicted):
        if label is not None and label not in classes:
            raise InputError(f"{name}: {label!r} is no class of the metric (classes: {', '.join(classes)})")
    if true == predicted:
        raise InputError(f"{name}: {true!r} called {predicted!r} is a right answer, a mistake was expected")
