"""Sums that do not depend on the order in which, or the groups by which, they are made."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.errors import InputError

# Every finite float64 is a whole multiple of 2^-1074, the smallest positive one.
_ONE = 1 << 1074


class ExactSum:
    """The sum of float64 arrays of one shape, held without any rounding.

    What is added is counted in whole multiples of the smallest float64, so that ``(a + b) + c`` and ``a + (b + c)``
    are the same to the last bit; only `value` rounds, once, correctly.

    Parameters
    ----------
    shape : tuple of int
        Shape of what is added.
    """

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.shape = shape
        self._single: NDArray[np.float64] | None = None  # the only addend so far: nothing to count yet
        self._units: list[int] | None = None

    def add(self, values: ArrayLike) -> None:
        """Add an array of this shape.

        Parameters
        ----------
        values : array-like
            Finite numbers.

        Raises
        ------
        InputError
            Where the shape differs or a number is not finite.
        """
        addend = np.asarray(values, dtype=np.float64)
        if addend.shape != self.shape:
            raise InputError(f"A sum of arrays of shape {self.shape} cannot take one of shape {addend.shape}.")
        if not np.isfinite(addend).all():
            raise InputError("The sum is not a finite number; costs and weights must be smaller.")
        if self._single is None and self._units is None:
            self._single = addend.copy()
            return
        units = self._counted()
        for position, value in enumerate(addend.ravel().tolist()):
            if value:
                units[position] += _in_units(value)

    def merge(self, other: Self) -> None:
        """Add another sum of the same shape.

        Parameters
        ----------
        other : ExactSum
            It is left as it was.
        """
        if other._single is not None:
            self.add(other._single)
        elif other._units is not None:
            units = self._counted()
            for position, value in enumerate(other._units):
                units[position] += value

    def value(self) -> NDArray[np.float64]:
        """Return the sum, rounded once; zeros where nothing was added."""
        if self._single is not None:
            return self._single.copy()
        if self._units is None:
            return np.zeros(self.shape)
        return np.array([units / _ONE for units in self._units]).reshape(self.shape)

    def _counted(self) -> list[int]:
        if self._units is None:
            before = np.zeros(self.shape) if self._single is None else self._single
            self._units = [_in_units(value) for value in before.ravel().tolist()]
            self._single = None
        return self._units


def _in_units(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * (_ONE // denominator)
