"""A logarithmic axis for exchange rates: from where to where, and which numbers stand on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from metrics.display.drawable import Rate

_MOST_TICKS = 7


@dataclass(frozen=True)
class LogAxis:
    """An axis from `low` to `high`, both > 0.

    Parameters
    ----------
    low, high : float
        The ends; `low` < `high`.
    """

    low: float
    high: float

    @classmethod
    def around(cls, rates: Iterable[Rate]) -> LogAxis:
        """Return an axis that holds 1 and every estimate and finite end of a range, with some room."""
        shown = [x for rate in rates for x in (rate.ratio, rate.low, rate.high) if x is not None]
        return cls.over([1.0, *shown], 1.6)

    @classmethod
    def over(cls, values: Iterable[float], room: float) -> LogAxis:
        """Return an axis that holds the values that are positive and finite, `room` times further on both sides."""
        shown = [x for x in values if 0 < x < math.inf] or [1.0]
        return cls(min(shown) / room, max(shown) * room)

    def position(self, value: float) -> float:
        """Return where a value stands, from 0 (left) to 1 (right); what lies outside stands at the end."""
        if value <= self.low:
            return 0.0
        return min(1.0, math.log(value / self.low) / math.log(self.high / self.low))

    def value(self, position: float) -> float:
        """Return the number at a position from 0 (left) to 1 (right)."""
        return self.low * math.pow(self.high / self.low, min(max(position, 0.0), 1.0))

    def ticks(self, most: int = _MOST_TICKS) -> list[float]:
        """Return 1-3-10 numbers inside the axis, thinned to powers of ten or further above `most`; 1 is one of them."""
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks = [m * 10.0**e for e in exponents for m in (1, 3) if self.low <= m * 10.0**e <= self.high]
        step = 1
        while len(ticks) > most:
            ticks = [10.0**e for e in exponents if e % step == 0 and self.low <= 10.0**e <= self.high]
            step += 1
        return ticks
