"""Results that carry more than a number."""

from __future__ import annotations

from typing import Any, Self


class Measured(float):
    """A number that carries what it was made of.

    It is a float in every way: arithmetic gives plain floats, it compares, formats, and goes through scikit-learn's
    cross-validation. It can be pickled with all it carries.

    Parameters
    ----------
    value : float
        The number.
    **carried
        Attributes, as the subclass names them.
    """

    def __new__(cls, value: float, **carried: Any) -> Self:
        """Make the number; what it carries becomes attributes."""
        self = super().__new__(cls, value)
        self.__dict__.update(carried)
        return self
