"""What more can be seen of a result: curves over a threshold, over an exchange rate, and of the models themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.elicited.exchange import ExchangeRate

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One curve: the recommended policy, another one, or one that needs no model (`trivial`)."""

    name: str
    values: Floats
    recommended: bool = False
    trivial: bool = False


@dataclass(frozen=True, eq=False)
class CurveSet:
    """Curves over one number.

    Parameters
    ----------
    at : ndarray of shape (n,)
        The numbers, ascending.
    lines : tuple of CurveLine
        Each with n values; the most important first.
    elicited : float
        What the answers say the number is.
    plausible : tuple of float or None
        Its 90 % range.
    """

    at: Floats
    lines: tuple[CurveLine, ...]
    elicited: float
    plausible: tuple[float, float] | None

    def values(self, number: float) -> tuple[tuple[CurveLine, float], ...]:
        """Return every line with its value at a number, as the straight line between two known ones has it."""
        return tuple((line, float(np.interp(number, self.at, line.values))) for line in self.lines)


@dataclass(frozen=True, eq=False)
class RocLine:
    """The ROC curve of a model with the elicited threshold on it.

    Parameters
    ----------
    name : str
        The model.
    false_rate, true_rate : ndarray of shape (m,)
        Share of the negative and of the positive cases that are called positive, ascending.
    point : tuple of float
        False and true rate at the threshold.
    ends : tuple of (float, float)
        The same at the ends of its 90 % range; `point` twice without one.
    recommended : bool
        Whether this model is the recommended one.
    """

    name: str
    false_rate: Floats
    true_rate: Floats
    point: tuple[float, float]
    ends: tuple[tuple[float, float], tuple[float, float]]
    recommended: bool


@dataclass(frozen=True, eq=False)
class CurvesView:
    """Everything behind "What more can be seen".

    Parameters
    ----------
    rate, yardstick : ExchangeRate
        Whose ratio varies, and the unit.
    net_benefit : CurveSet or None
        Two classes: positive cases found per population, less the price of false alarms, over the threshold.
    cost : CurveSet
        Cost per population in units of the yardstick, over the ratio.
    best : CurveSet
        Probability of being best, over the ratio.
    roc : tuple of RocLine
        Of two classes.
    """

    rate: ExchangeRate
    yardstick: ExchangeRate
    net_benefit: CurveSet | None
    cost: CurveSet
    best: CurveSet
    roc: tuple[RocLine, ...] = ()
