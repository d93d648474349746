"""Exchange rates: how many of one mistake another one counts for, and in which words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metrics.display.numbers import two_digits
from metrics.elicited.family import MistakeKey, family_of

if TYPE_CHECKING:
    from metrics.elicited.elicited_metric import ElicitedMetric
    from metrics.elicited.metric_parts import Consequence


@dataclass(frozen=True)
class ExchangeRate:
    """How bad one mistake is, in units of the yardstick mistake.

    Parameters
    ----------
    true : int
        Index of the true class.
    predicted : int or None
        Index of the predicted class; None for any wrong answer (family "dlpm").
    ratio : float
        Estimate, >= 0.
    low, high : float or None
        90 % range; `low` 0 where the ratio is only bounded above, `high` inf where it is only bounded below; None where
        the metric has no intervals.
    is_yardstick : bool
        Whether this is the yardstick itself.
    """

    true: int
    predicted: int | None
    ratio: float
    low: float | None
    high: float | None
    is_yardstick: bool

    def in_words(self) -> str:
        """Return "7.5", "at most 0.2" or "at least 40"."""
        if self.low is None or self.high is None or self.is_yardstick:
            return two_digits(self.ratio)
        if self.low == 0 and math.isfinite(self.high):
            return f"at most {two_digits(self.high)}"
        return f"at least {two_digits(self.low)}" if self.low > 0 and math.isinf(self.high) else two_digits(self.ratio)

    def range_in_words(self) -> str:
        """Return "5 to 12", "only bounded", "not known", "the yardstick", or "" without intervals."""
        if self.is_yardstick:
            return "the yardstick"
        if self.low is None or self.high is None:
            return ""
        if self.low == 0 and math.isinf(self.high):
            return "not known"
        if self.low == 0 or math.isinf(self.high):
            return "only bounded"
        return f"{two_digits(self.low)} to {two_digits(self.high)}"


def exchange_rates(metric: ElicitedMetric) -> tuple[ExchangeRate, ...]:
    """Return how bad each mistake is compared with the metric's yardstick.

    The yardstick is the one the metric names, else the cheapest mistake that costs anything. Ranges are quantiles of
    the posterior draws where the metric has them; else the widest that its intervals allow.

    Parameters
    ----------
    metric : ElicitedMetric
        With or without draws and intervals.

    Returns
    -------
    tuple of ExchangeRate
        In study order: by true class, then by predicted class; one per true class for family "dlpm".
    """
    family = family_of(metric.family)
    pairs = family.mistakes(len(metric.classes))
    yardstick = _yardstick(metric, pairs)
    costs = metric.cost_matrix
    unit = costs[family.cell(yardstick)]
    rates = []
    for pair in pairs:
        low, high = (1.0, 1.0) if pair == yardstick else _range(metric, family.cell(pair), family.cell(yardstick))
        rates.append(ExchangeRate(*pair, float(costs[family.cell(pair)] / unit), low, high, pair == yardstick))
    return tuple(rates)


def mistake_name(metric: ElicitedMetric, true: int, predicted: int | None) -> str:
    """Return the title of a mistake.

    Parameters
    ----------
    metric : ElicitedMetric
        Names the classes, and the mistakes where the expert did.
    true : int
        Index of the true class.
    predicted : int or None
        Index of the predicted class; None for any wrong answer.

    Returns
    -------
    str
        The expert's words, else "naevus called melanoma".
    """
    words = mistake_words(metric, true, predicted)
    return words.name if words and words.name else called(metric, true, predicted)


def headline(metric: ElicitedMetric) -> str:
    """Return the metric as a sentence: the worst mistake in units of the yardstick.

    Parameters
    ----------
    metric
        As in `exchange_rates`.

    Returns
    -------
    str
        "One missed melanoma counts as much as 7.5 needless excisions (plausible: 5 to 12)."
    """
    rates = exchange_rates(metric)
    worst, unit = max(rates, key=lambda rate: rate.ratio), next(rate for rate in rates if rate.is_yardstick)
    words, unit_words = (
        mistake_words(metric, worst.true, worst.predicted),
        mistake_words(metric, unit.true, unit.predicted),
    )
    if worst is unit:
        return f"{mistake_name(metric, unit.true, unit.predicted)} is the worst mistake; no other counts more."
    one = words.one if words and words.one else f"case of {called(metric, worst.true, worst.predicted)}"
    many = (
        unit_words.many if unit_words and unit_words.many else f"cases of {called(metric, unit.true, unit.predicted)}"
    )
    plausible = worst.range_in_words()
    range_ = f" (plausible: {plausible})" if plausible and plausible[0].isdigit() else ""
    return f"One {one} counts as much as {worst.in_words()} {many}{range_}."


def _yardstick(metric: ElicitedMetric, pairs: Sequence[MistakeKey]) -> MistakeKey:
    family = family_of(metric.family)
    if metric.yardstick is not None:
        true, predicted = (metric.classes.index(name) for name in metric.yardstick)
        named = family.mistake_at(true, predicted)
        if metric.cost_matrix[family.cell(named)] > 0:
            return named
    return min(
        (pair for pair in pairs if metric.cost_matrix[family.cell(pair)] > 0),
        key=lambda pair: metric.cost_matrix[family.cell(pair)],
    )


def _range(metric: ElicitedMetric, cell: tuple[int, int], unit: tuple[int, int]) -> tuple[float | None, float | None]:
    """Return the 90 % range of the ratio of two costs."""
    low, high = _range_of_intervals(metric.intervals, cell, unit)
    draws = metric.cost_samples
    if draws is None:
        return low, high
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = draws[(slice(None), *cell)] / draws[(slice(None), *unit)]
    drawn_low, drawn_high = np.quantile(
        np.nan_to_num(ratios, nan=0.0, posinf=np.inf), [0.05, 0.95], method="inverted_cdf"
    )
    # An end that the answers leave open stays open, whatever the prior behind the draws says.
    return 0.0 if low == 0 else float(drawn_low), math.inf if high == math.inf else float(drawn_high)


def _range_of_intervals(
    intervals: NDArray[np.float64] | None, cell: tuple[int, int], unit: tuple[int, int]
) -> tuple[float | None, float | None]:
    if intervals is None:
        return None, None
    (low, high), (unit_low, unit_high) = intervals[cell], intervals[unit]
    return float(low / unit_high) if math.isfinite(unit_high) else 0.0, float(
        high / unit_low
    ) if unit_low > 0 else math.inf


def mistake_words(metric: ElicitedMetric, true: int, predicted: int | None) -> Consequence | None:
    """Return the expert's words for a mistake, or None."""
    name = None if predicted is None else metric.classes[predicted]
    return next((c for c in metric.consequences if c.true == metric.classes[true] and c.predicted == name), None)


def called(metric: ElicitedMetric, true: int, predicted: int | None) -> str:
    """Return "naevus called melanoma", or "naevus called something else" for any wrong answer."""
    wrong = "something else" if predicted is None else metric.classes[predicted]
    return f"{metric.classes[true]} called {wrong}"
