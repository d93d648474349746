"""Exchange rates: the cost of each mistake in units of another, as numbers and in words.

Everything that shows how bad a mistake is uses this module: the window, the terminal, every export and the comparison
of experts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.elicited.elicited_metric import ElicitedMetric, require_metric
from metrics.elicited.family import MistakeKey, error_cells, family_of
from metrics.elicited.metric_parts import MOST_WEIGHTS_OF_ALL_DRAWS, Consequence, Quality
from metrics.errors import InputError
from metrics.inputs.arguments import Floats
from metrics.text import NOT_KNOWN, capitalised, span, two_digits

_KEPT = "_exchange_rates"
_CELLS_AT_ONCE = 400
_ENDLESS = 1e150  # above any ratio of costs; its square stands in for infinity while ends are interpolated
_Estimate = tuple[float, tuple[float, float] | None, tuple[float | None, float | None]]

MarkShape = Literal["square", "bound", "line", "bar", "dot", "diamond"]


class RateMark(NamedTuple):
    """A mark on a plot of a ratio, from `low` to `high`; the two are equal if it marks one number."""

    shape: MarkShape
    low: float
    high: float


class RangeWords(NamedTuple):
    """What the ranges of a metric are called."""

    word: str  # before a range within a sentence
    lead: str  # before a range on a line of its own
    head: str  # above a column
    legend: str  # beside a line, or in place of a range


PLAUSIBLE = RangeWords("plausible", "Plausible (90 %)", "plausible (90 %)", "90 % plausible")
LEFT_OPEN = RangeWords("left open", "Left open if every answer is right", "left open", "left open")
SEARCHES = ("dlpm", "lpm", "binary")  # procedures whose ranges are what their questions leave open

_WIDE = 10.0  # a range whose ends differ by more than this factor is stated instead of a number


@dataclass(frozen=True)
class ExchangeRate:
    """How bad one mistake is, in units of the yardstick mistake.

    Parameters
    ----------
    true : int
        Index of the true class.
    predicted : int or None
        Index of the predicted class; None stands for any wrong answer (family "dlpm").
    ratio : float
        Estimate, >= 0: the median of the posterior draws, or the ratio of the costs if there are none.
    low, high : float or None
        Its range; `low` is 0 if the ratio is only bounded above, `high` is inf if it is only bounded below. None if
        the metric has no intervals.
    is_yardstick : bool
        Whether this is the yardstick itself.
    mistake : Consequence
        The expert's words for the mistake; plain words fill the gaps.
    half : tuple of float or None
        50 % range, if the metric has draws.
    plausible : bool
        Whether the range is a 90 % range; otherwise it is what the questions of a search leave open.
    """

    true: int
    predicted: int | None
    ratio: float
    low: float | None
    high: float | None
    is_yardstick: bool
    mistake: Consequence
    half: tuple[float, float] | None = None
    plausible: bool = True

    @property
    def range_words(self) -> RangeWords:
        """Return what the range is called."""
        return PLAUSIBLE if self.plausible else LEFT_OPEN

    @property
    def key(self) -> MistakeKey:
        """Return the key of the mistake."""
        return MistakeKey(self.true, self.predicted)

    def cells(self, k: int) -> NDArray[np.bool_]:
        """Return a k x k mask of the cells that count this mistake: one cell, or all errors of its true class."""
        cells = np.zeros((k, k), dtype=bool)
        cells[self.true, slice(None) if self.predicted is None else self.predicted] = True
        return np.asarray(cells & error_cells(k))

    @property
    def range_90(self) -> tuple[float, float] | None:
        """Return the range; None for the yardstick, and if there is no range."""
        return None if self.low is None or self.high is None or self.is_yardstick else (self.low, self.high)

    @property
    def bounded(self) -> bool:
        """Return whether the answers leave one end of the range open."""
        return self.range_90 is not None and (self.range_90[0] == 0 < self.range_90[1] or math.isinf(self.range_90[1]))

    @property
    def shown(self) -> tuple[float, ...]:
        """Return the numbers that must fit on a plot: the estimate, or both ends of a range that is only bounded."""
        return (self.range_90 or ()) if self.bounded else (self.ratio,)

    @property
    def ends(self) -> tuple[float, ...]:
        """Return the ends of an estimate's range, which a plot may cut off."""
        return () if self.bounded else (self.range_90 or ())

    @property
    def wide(self) -> bool:
        """Return whether the range is closed but too wide to be stated as one number."""
        return self.range_90 is not None and not self.bounded and self.range_90[1] > _WIDE * self.range_90[0]

    def marks(self, guess: float | None = None) -> tuple[RateMark, ...]:
        """Return the marks of a plot, lowest layer first.

        The yardstick is a square. A ratio that is only bounded is a dashed line. Any other ratio is a line for the
        range, a bar for 50 % and a dot for the estimate. A first guess is a diamond.

        >>> words = Consequence("a", "b", "a called b")
        >>> [mark.shape for mark in ExchangeRate(0, 1, 2.0, 0.5, 9.0, False, words).marks(guess=4.0)]
        ['line', 'dot', 'diamond']
        >>> ExchangeRate(0, 1, 1.0, None, None, True, words).marks(guess=1.0)
        (RateMark(shape='square', low=1.0, high=1.0),)
        """
        if self.is_yardstick:
            return (RateMark("square", 1.0, 1.0),)
        diamond = () if guess is None else (RateMark("diamond", guess, guess),)
        if self.bounded and self.range_90 is not None:
            return (RateMark("bound", *self.range_90), *diamond)
        line = () if self.range_90 is None else (RateMark("line", *self.range_90),)
        bar = () if self.half is None else (RateMark("bar", *self.half),)
        return (*line, *bar, RateMark("dot", self.ratio, self.ratio), *diamond)

    def in_words(self) -> str:
        """Return the number, "7.5", or a bound or wide range: "at most 0.2", "at least 40", "0.1 to 7.1"."""
        return (
            span(*self.range_90)
            if self.range_90 is not None and (self.bounded or self.wide)
            else two_digits(self.ratio)
        )

    def columns(self) -> tuple[str, str]:
        """Return the texts of a table's columns for the estimate and the range.

        A bound is not an estimate, so it appears only in the second column.

        >>> words = Consequence("a", "b", "a called b")
        >>> ExchangeRate(0, 1, 2.04, 0.4, 9.0, False, words).columns()
        ('2', '0.4 to 9')
        >>> ExchangeRate(0, 1, 50.0, 40.0, math.inf, False, words).columns()
        ('–', 'at least 40')
        """
        if self.is_yardstick:
            return "1", "the yardstick"
        if self.range_90 is None:
            return two_digits(self.ratio), ""
        if self.bounded:
            return "–", span(*self.range_90)
        return two_digits(self.ratio), span(*self.range_90) if self.range_90[0] < self.range_90[1] else ""

    def with_range(self) -> str:
        """Return the number and its range for a sentence: "12 (11 to 14)", "0.3 to 9", "at most 0.075", "12"."""
        known, range_ = self.columns()
        return f"{known} ({range_})" if range_ and known == self.in_words() else self.in_words()

    def range_in_words(self) -> str:
        """Return the text beneath the number: "5 to 12", "only bounded", "the yardstick"; "" without intervals."""
        if self.is_yardstick:
            return "the yardstick"
        if self.range_90 is None:
            return ""
        if self.bounded:
            return "only bounded" if self.in_words() != NOT_KNOWN else ""
        if self.wide:
            return self.range_words.legend
        return span(*self.range_90) if self.range_90[0] < self.range_90[1] else ""


@dataclass(frozen=True)
class Headline:
    """The metric as one sentence: the cost of one mistake in units of the yardstick."""

    # the mistake it names, and the unit
    rate: ExchangeRate
    yardstick: ExchangeRate
    provisional: str | None = None  # why the result is provisional; None if it is not

    @property
    def start(self) -> str:
        """Return the sentence up to the number: "One missed melanoma counts as much as"."""
        one = self.rate.mistake.one
        if self.rate.in_words() == NOT_KNOWN:
            return f"How much one {one} counts"
        exact = not (self.rate.bounded or self.rate.wide) and self.rate.ratio > 0
        return f"One {one} counts as{' much as' if exact else ''}"

    @property
    def number(self) -> str:
        """Return the number with its noun, without a full stop: "7.5 needless excisions"."""
        text, unit = self.rate.in_words(), self.yardstick.mistake
        if text in (NOT_KNOWN, "0"):
            return "is not known" if text == NOT_KNOWN else f"nothing beside one {unit.one}"
        return f"{text} {unit.one if text == '1' else unit.many}"

    @property
    def below(self) -> tuple[str, str]:
        """Return the line beneath the sentence in two parts, the second to be stressed; both empty without ranges."""
        if self.rate.bounded:
            return "Only bounded: these questions could not narrow this.", ""
        if self.rate.wide:
            return f"{capitalised(self.rate.range_words.legend)}, not known more closely.", ""
        range_ = self.rate.range_in_words()
        return (f"{self.rate.range_words.lead}: ", range_) if range_ else ("", "")

    def in_words(self) -> str:
        """Return "One missed melanoma counts as much as 7.5 needless excisions (plausible: 5 to 12)."."""
        words, range_ = self.rate.range_words, self.below[1]
        beneath = words.legend if self.rate.wide else f"{words.word}: {range_}" if range_ else ""
        sentence = f"{self.start} {self.number}{f' ({beneath})' if beneath else ''}."
        return " ".join(filter(None, (sentence, Quality(provisional=self.provisional).caveat)))


def exchange_rates(metric: ElicitedMetric) -> tuple[ExchangeRate, ...]:
    """Return the cost of each mistake in units of the metric's yardstick.

    The yardstick is the mistake that the metric names, otherwise the cheapest one with a cost above zero. With
    posterior draws, estimates and ranges are quantiles of the ratio over the draws. Without draws, the estimate is the
    ratio of the costs and the range is the widest that their intervals allow; likewise with more than 600 weights, of
    whose draws a metric keeps only some, if the intervals take the cost of the yardstick as exact. An end that the
    intervals leave open stays open, even if the prior behind the draws closes it.

    Parameters
    ----------
    metric : ElicitedMetric
        With or without draws and intervals.

    Returns
    -------
    tuple of ExchangeRate
        Ordered by true class, then by predicted class; one per true class for family "dlpm".

    Examples
    --------
    >>> from metrics import ElicitedMetric, exchange_rates
    >>> metric = ElicitedMetric.from_cost_matrix(["healthy", "ill"], [[0, 1], [8, 0]])
    >>> [(rate.mistake.name, rate.in_words()) for rate in exchange_rates(metric)]
    [('healthy called ill', '1'), ('ill called healthy', '8')]
    """
    require_metric(metric)
    # Kept with the metric, because a report uses them often (2,450 quantiles for fifty classes).
    if _KEPT not in vars(metric):
        mistakes = family_of(metric.family).mistakes(len(metric.classes))
        vars(metric)[_KEPT] = _computed_rates(metric, mistakes, yardstick_of(metric))
    rates: tuple[ExchangeRate, ...] = vars(metric)[_KEPT]
    return rates


def never_asked(metric: ElicitedMetric) -> frozenset[MistakeKey]:
    """Return the mistakes that no answer is about, so that their costs are inferred from the other answers alone."""
    place = {name: index for index, name in enumerate(metric.classes)}
    missed = metric.quality.never_asked
    return frozenset(MistakeKey(place[true], None if to is None else place[to]) for true, to in missed)


def unasked_ratios(metric: ElicitedMetric) -> frozenset[MistakeKey]:
    """Return the mistakes whose ratio is to be marked as never asked about; that of the yardstick is 1 in any case."""
    return never_asked(metric) - {yardstick_of(metric)}


def rate_of(metric: ElicitedMetric, mistake: tuple[object, object]) -> ExchangeRate:
    """Return the exchange rate of a mistake whose cost is to vary.

    It is (true, predicted), as labels; or as indices as in `exchange_rates`, if they are not both labels. Raises
    InputError if it is not a pair, no mistake, or the yardstick.
    """
    rates = exchange_rates(metric)
    if isinstance(mistake, str) or not isinstance(mistake, Sequence) or len(mistake) != 2:
        raise InputError(f"mistake: a pair (true class, predicted class) was expected, found {mistake!r}.")
    indices = all(isinstance(part, int | np.integer | None) for part in mistake)
    if not indices or min(map(metric.class_index.place, mistake)) >= 0:
        mistake = tuple(metric.class_index.indices_of(mistake, "mistake").tolist())
    true, predicted = mistake
    rate = next((rate for rate in rates if rate.true == true and rate.predicted in (predicted, None)), None)
    if rate is None or true == predicted:
        raise InputError(f"mistake: {mistake} is a right answer or no mistake of these classes; choose another one.")
    if rate.is_yardstick:
        raise InputError(f"mistake: {rate.mistake.name} is the yardstick; choose another one.")
    return rate


def with_quality(metric: ElicitedMetric, quality: Quality) -> ElicitedMetric:
    """Return the metric with another `quality`, reusing its exchange rates, which do not depend on it."""
    found = replace(metric, quality=quality)
    vars(found)[_KEPT] = exchange_rates(metric)
    return found


def rate_between(metric: ElicitedMetric, key: MistakeKey, unit: MistakeKey) -> ExchangeRate:
    """Return the cost of a mistake in units of another, which need not be the yardstick, but must cost something."""
    return _computed_rates(metric, [key], unit)[0]


def _computed_rates(
    metric: ElicitedMetric, mistakes: Sequence[MistakeKey], unit: MistakeKey
) -> tuple[ExchangeRate, ...]:
    family = family_of(metric.family)
    plausible = metric.provenance.procedure not in SEARCHES
    estimates = _estimated(metric, [family.cell(key) for key in mistakes], family.cell(unit))
    return tuple(
        ExchangeRate(*key, 1.0, 1.0, 1.0, True, mistake_words(metric, key), plausible=plausible)
        if key == unit
        else ExchangeRate(*key, ratio, *ends, False, mistake_words(metric, key), half, plausible)
        for key, (ratio, half, ends) in zip(mistakes, estimates, strict=True)
    )


def rates_question(kind: str, unit: str, *, of_experts: bool = False) -> str:
    """Return the heading of exchange rates whose unit is called `unit`.

    >>> rates_question("confusion", "needless excision")
    'How bad is each mistake, compared with one needless excision?'
    """
    if kind == "confusion":
        what = "How bad does each expert find each mistake" if of_experts else "How bad is each mistake"
    else:
        what = f"How much does each amount count{' for each expert' if of_experts else ''}"
    return f"{what}, compared with one {unit}?"


def headline(metric: ElicitedMetric) -> Headline:
    """Return the opening sentence of a result.

    It names the mistake with the largest number that is known: the estimate, or a lower bound. A wide range from below
    1 to above it is no such number if another mistake surely counts for more than the yardstick. An upper bound says
    little of how bad a mistake is, so such a mistake is named only if nothing else counts for anything. Ties go to the
    mistake that comes first in `exchange_rates`. The yardstick is never named, and an unknown ratio only if all others
    are unknown. Wide ranges and bounds are stated as such. If the result is provisional, the reason follows the
    sentence.

    >>> from metrics import ElicitedMetric
    >>> metric = ElicitedMetric.from_cost_matrix(["healthy", "ill"], [[0, 1], [8, 0]])
    >>> headline(metric).in_words()
    'One case of ill called healthy counts as much as 8 cases of healthy called ill.'
    """
    return headline_of(exchange_rates(metric), metric.quality.provisional)


def headline_of(rates: Sequence[ExchangeRate], provisional: str | None = None) -> Headline:
    """Return the headline of exchange rates that are already computed; see `headline`."""
    yardstick = next(rate for rate in rates if rate.is_yardstick)
    return Headline(max((rate for rate in rates if not rate.is_yardstick), key=_headline_key), yardstick, provisional)


def _headline_key(rate: ExchangeRate) -> tuple[int, float]:
    """Return how much is known of a rate, and the number.

    That is: that it counts for more than the yardstick, a number, an upper bound, that it is 0, nothing.
    """
    low, high = rate.range_90 or (rate.ratio, rate.ratio)
    if not rate.bounded:
        more = rate.ratio > 1 and not (rate.wide and low < 1)
        return (4 if more else 3 if rate.ratio > 0 else 1), rate.ratio
    if low > 0:
        return (4 if low > 1 else 3), low
    return (0, 0.0) if math.isinf(high) else (2, high)


def mistake_words(metric: ElicitedMetric, key: MistakeKey) -> Consequence:
    """Return the words for a mistake: the expert's, with plain words in the gaps."""
    true = metric.classes[key.true]
    predicted = None if key.predicted is None else metric.classes[key.predicted]
    known = metric.stated_consequences.get((true, predicted))
    plain = called(metric.classes, key)
    if known is None:
        return Consequence(true, predicted, plain, f"case of {plain}", f"cases of {plain}")
    one, many = known.one or f"case of {plain}", known.many or f"cases of {plain}"
    return Consequence(true, predicted, known.name or plain, one, many, known.consequence)


def called(classes: Sequence[str], key: MistakeKey) -> str:
    """Return the truth and the prediction of a mistake in words.

    >>> called(["ill", "healthy", "unclear"], MistakeKey(0, 1))
    'ill called healthy'
    >>> called(["ill", "healthy", "unclear"], MistakeKey(0, None))
    'ill called something else'
    """
    if key.predicted is None and len(classes) > 2:
        return f"{classes[key.true]} called something else"
    # With two classes there is only one wrong answer, so it can be named.
    return f"{classes[key.true]} called {classes[1 - key.true if key.predicted is None else key.predicted]}"


def beside_name(name: str, flow: str) -> str:
    """Return the truth and the prediction to show beside a mistake's name; empty if the name already states them.

    >>> beside_name("Missed cancer", "malignant called benign"), beside_name("Ill called well", "ill called well")
    ('malignant called benign', '')
    """
    return "" if flow.casefold() == name.casefold() else flow


def yardstick_of(metric: ElicitedMetric) -> MistakeKey:
    """Return the unit of the exchange rates: the named mistake, otherwise the cheapest one with a cost above zero."""
    family = family_of(metric.family)
    costs = {key: metric.cost_matrix[family.cell(key)] for key in family.mistakes(len(metric.classes))}
    if metric.yardstick is not None:
        true, predicted = (metric.classes.index(name) for name in metric.yardstick)
        named = family.mistake_at(true, predicted)
        if costs[named] > 0:
            return named
    return min((key for key in costs if costs[key] > 0), key=lambda key: costs[key])


def scale_of_ranges(metric: ElicitedMetric) -> str:
    """Return a sentence on the cost that the intervals take as exact, if it is not the worst one; else ""."""
    unit, intervals = yardstick_of(metric), metric.intervals
    cell = family_of(metric.family).cell(unit)
    if intervals is None or metric.cost_matrix[cell] == 1 or (intervals[..., 0] == intervals[..., 1]).all():
        return ""
    return f"Ranges take the cost of {mistake_words(metric, unit).name} as exact." if is_exact(metric, cell) else ""


def is_exact(metric: ElicitedMetric, cell: tuple[int, int]) -> bool:
    """Return whether the intervals take the cost in a cell of the matrix as exact."""
    return metric.intervals is not None and bool(metric.intervals[cell][0] == metric.intervals[cell][1])


def _estimated(metric: ElicitedMetric, cells: Sequence[tuple[int, int]], unit: tuple[int, int]) -> list[_Estimate]:
    """Return the estimate, 50 % range and 90 % range of the ratio of each cost to that of the yardstick."""
    open_or_not = [_range_of_intervals(metric.intervals, cell, unit) for cell in cells]
    drawn_costs = metric.cost_samples
    if drawn_costs is None:
        ratios = [float(metric.cost_matrix[cell] / metric.cost_matrix[unit]) for cell in cells]
        return [(ratio, None, ends) for ratio, ends in zip(ratios, open_or_not, strict=True)]
    parts = np.array_split(np.array(cells), 1 + len(cells) // _CELLS_AT_ONCE)
    quantiles = [row for part in parts for row in _drawn_quantiles(drawn_costs, part, unit).tolist()]
    if _intervals_state_ranges(metric, unit):
        costs = (metric.cost_matrix[tuple(np.transpose(cells))] / metric.cost_matrix[unit]).tolist()
        return [
            (ratio, (min(drawn[1], ratio), max(drawn[3], ratio)), ends)
            for ratio, drawn, ends in zip(costs, quantiles, open_or_not, strict=True)
        ]
    return [
        (drawn[2], (drawn[1], drawn[3]), (0.0 if low == 0 else drawn[0], math.inf if high == math.inf else drawn[4]))
        for drawn, (low, high) in zip(quantiles, open_or_not, strict=True)
    ]


def _intervals_state_ranges(metric: ElicitedMetric, unit: tuple[int, int]) -> bool:
    """Return whether intervals of costs are ranges of ratios to the yardstick, from more draws than the metric keeps.

    That is so with many weights, if the cost of the yardstick is exact.
    """
    return len(metric.weights) > MOST_WEIGHTS_OF_ALL_DRAWS and is_exact(metric, unit)


def _drawn_quantiles(costs: Floats, cells: NDArray[np.intp], unit: tuple[int, int]) -> Floats:
    """Return the 5, 25, 50, 75 and 95 % quantiles, (c, 5), of c costs over that of `unit`, from draws (s, k, k)."""
    above, below = costs[:, *cells.T], costs[:, *unit, None]
    ratios = np.divide(above, below, out=np.where(above > 0, np.inf, 0.0), where=below > 0)
    # Quantiles of sorted ratios are quicker. The median is an actual draw, as in the cost matrix.
    ratios.sort(axis=0)
    middle = np.quantile(ratios, [0.5], axis=0, method="inverted_cdf")
    # Interpolated ends that include the median, as in the costs' intervals: one page shows both.
    ends = np.quantile(np.minimum(ratios, _ENDLESS**2), [0.05, 0.25, 0.75, 0.95], axis=0)
    ends[ends > _ENDLESS] = np.inf
    return np.concatenate([np.minimum(ends[:2], middle), middle, np.maximum(ends[2:], middle)]).T


def _range_of_intervals(
    intervals: NDArray[np.float64] | None, cell: tuple[int, int], unit: tuple[int, int]
) -> tuple[float | None, float | None]:
    if intervals is None:
        return None, None
    (low, high), (unit_low, unit_high) = intervals[cell], intervals[unit]
    return float(low / unit_high) if math.isfinite(unit_high) else 0.0, float(
        high / unit_low
    ) if unit_low > 0 else math.inf
