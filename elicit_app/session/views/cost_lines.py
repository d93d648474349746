"""What is cheapest as a share changes: straight lines and their lower envelope."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Segment:
    """From `low` to `high` of the number `name` is cheapest."""

    low: float
    high: float
    name: str


@dataclass(frozen=True)
class CostLines:
    """Cost of every policy as a function of one number v >= 0: ``base + v * slope``, in units of the yardstick mistake.

    Parameters
    ----------
    names : tuple of str
        The policies.
    base, slope : tuple of float
        Per policy: the cost at 0, and by how much it grows with v.
    """

    names: tuple[str, ...]
    base: tuple[float, ...]
    slope: tuple[float, ...]

    def costs(self, value: float) -> tuple[float, ...]:
        """Return the cost of every policy at `value`."""
        return tuple(base + value * slope for base, slope in zip(self.base, self.slope, strict=True))

    def cheapest(self, value: float) -> int:
        """Return the index of the cheapest policy at `value`; ties: the earlier one."""
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
        """Return who is cheapest between `low` and `high`, neighbours of the same policy joined."""
        ends = [low, *(value for value in self.crossings() if low < value < high), high]
        joined: list[Segment] = []
        for start, end in pairwise(ends):
            name = self.names[self.cheapest(math.sqrt(start * end))]
            if joined and joined[-1].name == name:
                joined[-1] = Segment(joined[-1].low, end, name)
            else:
                joined.append(Segment(start, end, name))
        return tuple(joined)
