"""What can be drawn: of each result the part that its drawing needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@runtime_checkable
class CostsOfClasses(Protocol):
    """An elicited metric, as far as its cost matrix is drawn."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the names of the k classes."""

    @property
    def cost_matrix(self) -> Floats:
        """Return the costs, shape (k, k)."""

    @property
    def intervals(self) -> Floats | None:
        """Return their 90 % intervals, shape (k, k, 2), or None."""


class Rate(Protocol):
    """An exchange rate with its 90 % range."""

    @property
    def ratio(self) -> float:
        """Return the estimate."""

    @property
    def low(self) -> float | None:
        """Return the lower end, or None where there is no range."""

    @property
    def high(self) -> float | None:
        """Return the upper end, or None where there is no range."""


class Calibration(Protocol):
    """What came true against what was predicted, bin by bin."""

    @property
    def prob_true(self) -> Floats:
        """Return the share of positive cases per bin."""

    @property
    def prob_pred(self) -> Floats:
        """Return the mean predicted probability per bin."""

    @property
    def weight(self) -> Floats:
        """Return the cases per bin."""


class PointOfCurve(Protocol):
    """An operating point with its ROC curve."""

    @property
    def threshold(self) -> float:
        """Return the score from which cases are called positive."""

    @property
    def false_rate(self) -> float:
        """Return the share of the negative cases called positive."""

    @property
    def true_rate(self) -> float:
        """Return the share of the positive cases called positive."""

    @property
    def cost(self) -> float:
        """Return the mean cost per case."""

    @property
    def slope(self) -> float:
        """Return the slope of the lines of equal cost."""

    @property
    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Return the false rates, true rates and thresholds of the curve."""

    @property
    def positive(self) -> str:
        """Return the name of the positive class."""

    @property
    def negative(self) -> str:
        """Return the name of the negative class."""


class Corner(Protocol):
    """Where the cheapest model changes."""

    @property
    def ratio(self) -> float:
        """Return the exchange rate at which both cost the same."""

    @property
    def below(self) -> str:
        """Return the cheapest model below it."""

    @property
    def above(self) -> str:
        """Return the cheapest model above it."""


class CostsOfModels(Protocol):
    """Costs of models over one exchange rate."""

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names."""

    @property
    def elicited(self) -> float:
        """Return the ratio that was elicited."""

    @property
    def plausible(self) -> tuple[float, float] | None:
        """Return its 90 % range, or None."""

    @property
    def mistake(self) -> str:
        """Return the name of the mistake."""

    def cost(self, ratio: ArrayLike, /) -> Floats:
        """Return the mean cost of each model at each ratio."""

    def break_even_points(self) -> Sequence[Corner]:
        """Return where the cheapest model changes."""
