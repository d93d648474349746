"""Measures of predicted numbers with their uncertainty [M589].

Source: B. Marlin, COMPSCI 589 lecture 14, University of Massachusetts Amherst.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from metrics.batches import Accumulator, Floats
from metrics.errors import InputError
from metrics.inputs.arguments import number_array, real_number, same_length


class GaussianLikelihood(Accumulator):
    """The mean negative log-likelihood of normal distributions, taking its cases in batches."""

    def update(self, y_true: ArrayLike, mean: ArrayLike, std: ArrayLike) -> Self:
        """Add a batch of cases; where it is refused nothing is added.

        Parameters
        ----------
        y_true, mean, std
            As in `gaussian_negative_log_likelihood`, and refused as there.
        """
        true = _numbers(y_true, "y_true")
        centre, spread = _numbers(mean, "mean", len(true)), _spread(std, len(true))
        with np.errstate(over="ignore"):  # what is infinite is refused with its sum
            loss = 0.5 * math.log(2 * math.pi) + np.log(spread) + 0.5 * ((true - centre) / spread) ** 2
        self.add({"loss": float(loss.sum()), "weight": len(true)})
        return self

    def result(self) -> float:
        """Return the mean; lower is better."""
        return float(self.value("loss")) / self.weight()


class Coverage(Accumulator):
    """The share of numbers that lie in their intervals, taking its cases in batches."""

    def update(self, y_true: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Self:
        """Add a batch of cases with their intervals; where it is refused nothing is added.

        Parameters
        ----------
        y_true, lower, upper
            As in `interval_coverage`.

        Raises
        ------
        InputError
            In words: which argument, which row, what was expected.
        """
        true = _numbers(y_true, "y_true")
        low, high = _limits(lower, "lower", len(true)), _limits(upper, "upper", len(true))
        if (low > high).any():
            row = int(np.argmax(low > high))
            raise InputError(
                f"upper, row {row}: at least the lower limit {low[row]:g} was expected, found {high[row]:g}."
            )
        covered = np.count_nonzero((low <= true) & (true <= high))
        self.add({"covered": covered, "weight": len(true)})
        return self

    def result(self) -> float:
        """Return the share."""
        return float(self.value("covered")) / self.weight()


def gaussian_negative_log_likelihood(y_true: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Return the mean negative log-likelihood of numbers under predicted normal distributions [M589].

    Mean of ln(2 pi s^2) / 2 + (y - m)^2 / (2 s^2).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Numbers.
    mean : array-like of shape (n,) or float
        Predicted means m.
    std : array-like of shape (n,) or float
        Predicted standard deviations s > 0.

    Returns
    -------
    float
        Lower is better; negative where the densities are above 1.

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    return GaussianLikelihood().update(y_true, mean, std).result()


def interval_coverage(
    y_true: ArrayLike,
    mean: ArrayLike | None = None,
    std: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    level: float = 0.95,
) -> float:
    """Return the share of numbers inside their predicted intervals [M589]; `level` is what it should be.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Numbers.
    mean, std : array-like of shape (n,) or float, optional
        Predicted normal distributions: the central interval of `level` is taken.
    lower, upper : array-like of shape (n,) or float, optional
        Instead, the limits of any interval, themselves included; infinite where an interval is open.
    level : float
        In (0, 1); only with `mean` and `std`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        In words: which argument, which row, what was expected.
    """
    given = [value is not None for value in (mean, std, lower, upper)]
    if given == [False, False, True, True]:
        return Coverage().update(y_true, lower, upper).result()  # type: ignore[arg-type]
    if given != [True, True, False, False]:
        raise InputError("interval_coverage: either mean and std, or lower and upper, were expected.")
    quantile = (1 + real_number(level, "level", 0, 1, ends=False)) / 2
    n = len(_numbers(y_true, "y_true"))
    centre, spread = _numbers(mean, "mean", n), _spread(std, n)  # type: ignore[arg-type]
    reach = NormalDist().inv_cdf(quantile) * spread
    return Coverage().update(y_true, centre - reach, centre + reach).result()


def _numbers(values: ArrayLike, name: str, n: int | None = None) -> Floats:
    """Return n finite numbers; one number stands for n equal ones where n is known."""
    array = number_array(values, name)
    return _shaped(array, name, n)


def _limits(values: ArrayLike, name: str, n: int) -> Floats:
    """Return n limits, which may be infinite."""
    array = number_array(values, name, finite=False)
    if np.isnan(array).any():
        raise InputError(f"{name}: a limit is missing in row {int(np.argmax(np.isnan(array)))}.")
    return _shaped(array, name, n)


def _spread(values: ArrayLike, n: int) -> Floats:
    spread = _numbers(values, "std", n)
    if spread.min() <= 0:
        row = int(np.argmax(spread <= 0))
        raise InputError(f"std, row {row}: a standard deviation above 0 was expected, found {spread[row]:g}.")
    return spread


def _shaped(array: Floats, name: str, n: int | None) -> Floats:
    if array.ndim == 0 and n is not None:
        return np.full(n, float(array))
    if array.ndim != 1 or len(array) == 0:
        raise InputError(
            f"{name}: one number per case, and at least one case, was expected; the shape is {array.shape}."
        )
    if n is not None:
        same_length(n, len(array), name)
    return array
