"""Which model is cheapest as one number changes, a ratio or a share: straight lines and their lower envelope."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elicit_app.session.views.figures import ModelView
from metrics.elicited.exchange import ExchangeRate


@dataclass(frozen=True)
class Segment:
    """From `low` to `high` of the number the model `name` is cheapest."""

    low: float
    high: float
    name: str


@dataclass(frozen=True)
class CostLines:
    """Cost of every model as a function of one number v >= 0: ``base + v * slope``, in units of the yardstick mistake.

    Parameters
    ----------
    names : tuple of str
        The models.
    base, slope : tuple of float
        Per model: the cost at 0, and by how much it grows with v; for a ratio, how many of these mistakes it makes.
    """

    names: tuple[str, ...]
    base: tuple[float, ...]
    slope: tuple[float, ...]

    @classmethod
    def of(cls, models: Sequence[ModelView], ratio: ExchangeRate) -> CostLines:
        """Take the lines through the models' costs at the estimated `ratio`."""
        slopes = []
        for model in models:
            row = np.array(model.rates[ratio.true], dtype=np.float64)
            row[ratio.true] = 0.0
            slopes.append(float(row.sum() if ratio.predicted is None else row[ratio.predicted]))
        bases = [model.cost - ratio.ratio * slope for model, slope in zip(models, slopes, strict=True)]
        return cls(tuple(model.name for model in models), tuple(bases), tuple(slopes))

    def costs(self, value: float) -> tuple[float, ...]:
        """Return the cost of every model at `value`."""
        return tuple(base + value * slope for base, slope in zip(self.base, self.slope, strict=True))

    def cheapest(self, value: float) -> int:
        """Return the index of the cheapest model at `value`; ties: the earlier one."""
        return int(np.argmin(self.costs(value)))

    def crossings(self) -> tuple[float, ...]:
        """Return all numbers above 0 where two of the lines meet, ascending."""
        found = set()
        for i in range(len(self.names)):
            for j in range(i):
                steeper = self.slope[i] - self.slope[j]
                if steeper:
                    found.add((self.base[j] - self.base[i]) / steeper)
        return tuple(sorted(value for value in found if value > 0))

    def segments(self, low: float, high: float) -> tuple[Segment, ...]:
        """Return who is cheapest between `low` and `high`, neighbours of the same model joined."""
        ends = [low, *(value for value in self.crossings() if low < value < high), high]
        joined: list[Segment] = []
        for start, end in pairwise(ends):
            name = self.names[self.cheapest(math.sqrt(start * end))]
            if joined and joined[-1].name == name:
                joined[-1] = Segment(joined[-1].low, end, name)
            else:
                joined.append(Segment(start, end, name))
        return tuple(joined)
