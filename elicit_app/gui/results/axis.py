"""Axes of the painted plots: logarithmic for ratios, linear for differences of cost, log-odds for shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from metrics.elicited.exchange import ExchangeRate

_STEPS = (1.0, 2.0, 5.0)


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from `low` to `high` (both positive, low < high)."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float], *, reach: float = 1.3, widest: float = 1e4) -> LogAxis:
        """Return an axis that holds 1 and all finite positive `values`, with a margin of the factor `reach`.

        Values beyond `widest` (or below its inverse) are left to the plot's arrows.
        """
        kept = [value for value in values if math.isfinite(value) and 1 / widest <= value <= widest]
        low, high = min([1.0, *kept]), max([1.0, *kept])
        return cls(min(low / reach, 0.3), max(high * reach, 3.0))

    def share(self, value: float) -> float:
        """Return where `value` lies, 0 at the low end and 1 at the high end; values outside are put at the end."""
        inside = min(max(value, self.low), self.high)
        return math.log(inside / self.low) / math.log(self.high / self.low)

    def value(self, share: float) -> float:
        """Return the value at `share` of the length, 0 to 1."""
        return self.low * math.pow(self.high / self.low, min(max(share, 0.0), 1.0))

    def ticks(self, most: int = 9) -> tuple[float, ...]:
        """Return round values inside, at most `most` where possible: powers of ten times 1, 2, 3, 5 or fewer."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        found: tuple[float, ...] = ()
        for mantissas in ((1.0, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
            every = (m * 10.0**e for e in range(first, last + 1) for m in mantissas)
            found = tuple(v for v in every if self.low * (1 - 1e-9) <= v <= self.high * (1 + 1e-9))
            if len(found) <= most:
                break
        return found


@dataclass(frozen=True)
class ShareAxis:
    """An axis of shares from `low` to `high` (0 < low < high < 1) in log-odds: what is rare has room, at both ends."""

    low: float
    high: float

    @classmethod
    def around(cls, share: float, population: int) -> ShareAxis:
        """Return an axis that holds `share` with room on both sides, down to one case of the population."""
        rarest = 1 / max(population, 3)
        low, high = min(0.01, share / 10), max(0.99, 1 - (1 - share) / 10)
        return cls(max(low, rarest), min(high, 1 - rarest))

    def share(self, value: float) -> float:
        """Return where `value` lies, 0 at the low end and 1 at the high end; values outside are put at the end."""
        inside = min(max(value, self.low), self.high)
        return (_log_odds(inside) - _log_odds(self.low)) / (_log_odds(self.high) - _log_odds(self.low))

    def value(self, share: float) -> float:
        """Return the share of cases at `share` of the length, 0 to 1."""
        odds = _log_odds(self.low) + min(max(share, 0.0), 1.0) * (_log_odds(self.high) - _log_odds(self.low))
        return 1 / (1 + math.exp(-odds))

    def ticks(self, most: int = 9) -> tuple[float, ...]:
        """Return round shares inside, at most `most` where possible."""
        found: tuple[float, ...] = ()
        for rare in ((0.01, 0.02, 0.05, 0.1, 0.2), (0.01, 0.05, 0.2), (0.01, 0.1), ()):
            low = [value / 10**tens for tens in (4, 2, 0) for value in rare]
            every = (*low, 0.5, *(1 - value for value in reversed(low)))
            found = tuple(value for value in every if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9))
            if len(found) <= most:
                break
        return found


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


@dataclass(frozen=True)
class LinearAxis:
    """A linear axis from `low` to `high`, low < high."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float], *, margin: float = 0.06) -> LinearAxis:
        """Return an axis that holds 0 and all finite `values`, with a margin of that share of the span."""
        kept = [0.0, *(value for value in values if math.isfinite(value))]
        low, high = min(kept), max(kept)
        span = (high - low) or 1.0
        return cls(low - margin * span, high + margin * span)

    def share(self, value: float) -> float:
        """Return where `value` lies, 0 at the low end and 1 at the high end; values outside are put at the end."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def ticks(self, most: int = 5) -> tuple[float, ...]:
        """Return at most `most` round values inside, 0 among them where it lies inside."""
        rough = (self.high - self.low) / max(most, 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (*_STEPS, 10.0) if power * m >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(index * step for index in range(first, last + 1))


def slider_axis(ratio: ExchangeRate) -> LogAxis:
    """Return the range of the slider: the plausible range with room around it, 1 always inside."""
    low, high = ratio.ninety or (ratio.ratio, ratio.ratio)
    low = low if low > 0 else ratio.ratio / 10
    high = high if math.isfinite(high) else ratio.ratio * 10
    return LogAxis(min(1.0, low / 3), max(1.0, high * 4))
