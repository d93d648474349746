"""Where experts are furthest apart: on which mistake, on which two, or on which classes, and what each of them says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np

from elicit_app.study.model import Mistake, Wording
from metrics import ElicitedMetric, exchange_rates
from metrics.elicited.exchange import ExchangeRate, mistake_words, rate_between
from metrics.elicited.family import MistakeKey, error_cells, family_of
from metrics.elicited.metric_parts import range_of_draws
from metrics.inputs.arguments import Floats
from metrics.text import NOT_KNOWN, counted, two_digits

SAME = 1.05  # a smaller difference is not worth a sentence
_MORE = 2.0  # times as far apart as on one mistake and the yardstick must experts be on two others, to name these
_BEYOND = 1.2  # factor from the ratios of all experts at which that of their pool is explained
_CHANCE = 0.05  # how often experts of the same values may be said to disagree, about whichever mistake
_NORMAL = NormalDist()


@dataclass(frozen=True)
class MistakeRates:
    """How bad each expert, and all of them pooled, find one mistake, in units of another."""

    mistake: Mistake
    rates: tuple[ExchangeRate, ...]  # in the order of the experts
    pooled: ExchangeRate  # of the pooled metric
    among: int = 1  # ratios of two mistakes that are compared
    is_divisive: bool = False  # whether the experts are furthest apart on its ratio to another than the yardstick

    @property
    def is_yardstick(self) -> bool:
        """Return whether this is the mistake that counts as 1 for every expert."""
        return self.pooled.is_yardstick

    @property
    def factor(self) -> float:
        """Return the largest ratio that an expert gives the mistake, divided by the smallest."""
        ratios = [rate.ratio for rate in self.rates]
        return max(ratios) / min(ratios) if min(ratios) > 0 else (math.inf if max(ratios) > 0 else 1.0)

    @property
    def known(self) -> bool:
        """Return whether the ratio is known, and not only bounded, for the two experts furthest apart."""
        return not any(self.rates[index].bounded for index in self.ends)

    @property
    def apart(self) -> tuple[bool, bool, bool, float]:
        """Return how far apart the experts are, as a key for sorting.

        Those that divide them most come first, then those plainly apart, then differences of known ratios, then those
        of which an end is only bounded.
        """
        return self.is_divisive, self.plainly_apart, self.known and self.factor >= SAME, self.factor

    @property
    def times(self) -> str:
        """Return "6 times apart"; empty if an end is a bound, a wide range or 0, which no expert stated as a number."""
        ends = [self.rates[index] for index in self.ends]
        unsaid = any(rate.bounded or rate.wide for rate in ends) or math.isinf(self.factor)
        return "" if unsaid else f"{two_digits(self.factor)} times apart"

    @property
    def beyond_all(self) -> bool:
        """Return whether the pooled ratio lies beyond those of all experts, where all are known."""
        apart = [self.pooled.ratio / rate.ratio for rate in self.rates if rate.ratio > 0 and not rate.bounded]
        known = len(apart) == len(self.rates) and not self.pooled.bounded
        return known and (min(apart) > _BEYOND or max(apart) < 1 / _BEYOND)

    @property
    def ends(self) -> tuple[int, int]:
        """Return the indices of the experts who mind it most and least."""
        ratios = [rate.ratio for rate in self.rates]
        return ratios.index(max(ratios)), ratios.index(min(ratios))

    @property
    def disjoint(self) -> bool | None:
        """Return whether the ranges of those two are disjoint; None if one has no range."""
        most, least = (self.rates[index] for index in self.ends)
        if most.low is None or least.high is None:
            return None
        return most.low > least.high

    @property
    def plainly_apart(self) -> bool:
        """Return whether the ranges of those two are disjoint by more than chance explains.

        Plausible ranges of 90 % are taken as normal on the log scale, and all pairs of experts and all ratios as
        candidates (Bonferroni). Other ranges are as certain as the answers.
        """
        most, least = (self.rates[index] for index in self.ends)
        if not self.disjoint or not (most.plausible and least.plausible) or not (least.ratio and least.high):
            return bool(self.disjoint)
        assert most.low is not None
        spread = math.hypot(math.log(most.ratio / most.low), math.log(least.high / least.ratio)) / _NORMAL.inv_cdf(0.95)
        candidates = self.among * math.comb(len(self.rates), 2)
        return math.log(most.ratio / least.ratio) > spread * _NORMAL.inv_cdf(1 - _CHANCE / (2 * candidates))


def compared_mistakes(
    metrics: Sequence[ElicitedMetric], pooled: ElicitedMetric, wording: Wording
) -> tuple[MistakeRates, ...]:
    """Return what every mistake counts by each of the metrics and by the pooled one, in study order."""
    each, of_all = [exchange_rates(metric) for metric in metrics], exchange_rates(pooled)
    others = sum(not one.is_yardstick for one in of_all)
    return tuple(
        MistakeRates(wording.mistake(one.key), tuple(rates[index] for rates in each), pooled=one, among=others)
        for index, one in enumerate(of_all)
    )


def widest(mistakes: Sequence[MistakeRates]) -> MistakeRates:
    """Return the mistake on which the experts are furthest apart, in units of the yardstick."""
    return max((one for one in mistakes if not one.is_yardstick), key=lambda one: one.apart)


def furthest(mistakes: Sequence[MistakeRates], most: int) -> tuple[MistakeRates, ...]:
    """Return the `most` mistakes on which experts are furthest apart, in their original order."""
    order = sorted(range(len(mistakes)), key=lambda index: mistakes[index].apart, reverse=True)
    return tuple(mistakes[index] for index in sorted(order[:most]))


def apart_words(row: MistakeRates) -> str:
    """Return how far apart the experts are: "28 times apart; ranges do not meet"."""
    if row.factor < SAME:
        return "the same for all"
    times = row.times if math.isfinite(row.factor) else "one counts it as nothing"
    ranges = "ranges do not meet" if row.plainly_apart else "ranges nearly meet" if row.disjoint else ""
    return "; ".join(filter(None, (times, ranges)))


def rest_words(left: Sequence[MistakeRates]) -> str:
    """Return how far apart the experts are on mistakes that are not listed; empty if there is none.

    Bounds are left out, because they are no estimates.
    """
    if not left:
        return ""
    known = [one.factor for one in left if one.times]
    others = counted(len(left), "other mistake")
    if not known:
        return f"{others}: too little is known to say how far apart they are."
    far = f"at most {two_digits(max(known))} times apart" if max(known) >= SAME else "the same for all"
    return f"{others}: {far}{', as far as that is known' if len(known) < len(left) else ''}."


def spread_words(mistakes: Sequence[MistakeRates]) -> str:
    """Return how far the experts' ratios are from the pooled ones; empty if there is nothing to compare.

    It uses the same numbers as the distance between experts, so that the two never contradict each other. Bounds are
    left out, because they are no estimates.
    """
    pairs = [(rate, one.pooled) for one in mistakes if not one.is_yardstick for rate in one.rates]
    factors = [
        max(rate.ratio / pooled.ratio, pooled.ratio / rate.ratio)
        for rate, pooled in pairs
        if _is_number(rate) and _is_number(pooled)
    ]
    if not factors or max(factors) < SAME:
        return ""
    half, most = (two_digits(factor) for factor in (np.median(factors), max(factors)))
    which = "ratios" if len(factors) == len(pairs) else "ratios that are known and not 0"
    if half == most:
        return f"Their {which} lie within a factor of {most} of the pooled ones."
    near = f"Half of their {which} lie within a factor of {half} of the pooled ones"
    return f"{near}; the furthest is off by a factor of {most}."


@dataclass(frozen=True)
class Disagreement:
    """The ratio of two mistakes on which experts are furthest apart: what one of the first counts in the second.

    Parameters
    ----------
    compared : MistakeRates
        The first mistake, in units of the second.
    unit : MistakeRates
        The second: the yardstick or, where two others divide the experts far more, one of these.
    of_classes : bool
        Whether both stand for all mistakes on a class, on average.
    """

    compared: MistakeRates
    unit: MistakeRates
    of_classes: bool = False

    @classmethod
    def of(
        cls,
        mistakes: Sequence[MistakeRates],
        metrics: Sequence[ElicitedMetric],
        pooled: ElicitedMetric,
        wording: Wording,
    ) -> Disagreement:
        """Find the ratio on which experts are furthest apart.

        `mistakes` are those of all `metrics`, which have one yardstick, and of the `pooled` one. Two experts may be
        known to differ on a miss and a false alarm while neither is closely known in units of a third mistake. With
        many mistakes little is known of each, but more of all those on one class together.
        """
        found = cls._of_mistakes(mistakes, metrics, pooled)
        if found.compared.plainly_apart:
            return found
        return cls._of_classes(metrics, pooled, wording) or found

    @classmethod
    def _of_mistakes(
        cls, mistakes: Sequence[MistakeRates], metrics: Sequence[ElicitedMetric], pooled: ElicitedMetric
    ) -> Disagreement:
        """Find the mistake, or the two, on which experts are furthest apart."""
        plain = cls(widest(mistakes), next(one for one in mistakes if one.is_yardstick))
        known = [one for one in mistakes if all(map(_is_number, (*one.rates, one.pooled)))]
        if len(known) < 2:
            return plain
        ends = [known[at] for at in _most_divisive(np.log([[rate.ratio for rate in one.rates] for one in known]))]
        worse, other = sorted(ends, key=lambda one: one.pooled.ratio, reverse=True)
        if any(one.is_yardstick for one in ends):
            return plain
        compared = _rates_between(worse, other, metrics, pooled, among=math.comb(len(mistakes), 2))
        most = plain.compared.factor if plain.compared.plainly_apart else 0.0
        return cls(compared, other) if compared.plainly_apart and compared.factor > _MORE * most else plain

    @classmethod
    def _of_classes(
        cls, metrics: Sequence[ElicitedMetric], pooled: ElicitedMetric, wording: Wording
    ) -> Disagreement | None:
        """Return the two classes on whose mistakes, on average, experts are plainly apart; None if on none."""
        family, k = family_of(pooled.family), len(pooled.classes)
        if pooled.kind != "confusion" or not family.distinguishes_errors or k < 3:
            return None
        logs = _logs_of_all((*metrics, pooled))
        if logs is None:
            return None
        *middle, of_all = (np.median(one, axis=0) for one in logs)
        worse, other = sorted(_most_divisive(np.transpose(middle)), key=lambda at: of_all[at], reverse=True)
        *rates, rate = (_rate_of_classes(one, worse, other, pooled) for one in logs)
        compared = MistakeRates(wording.any_mistake[worse], tuple(rates), rate, among=math.comb(k, 2))
        unit = MistakeRates(wording.any_mistake[other], (), _rate_of_classes(logs[-1], other, other, pooled))
        return cls(compared, unit, of_classes=True) if compared.plainly_apart else None

    def found_by(
        self, mistakes: Sequence[MistakeRates], metrics: Sequence[ElicitedMetric], pooled: ElicitedMetric
    ) -> MistakeRates | None:
        """Return the same ratio by other `metrics`; the arguments are as in `of`. None where they do not tell it."""
        here, there = self.compared.pooled.key, self.unit.pooled.key
        if not self.of_classes:
            worse, other = (next(one for one in mistakes if one.pooled.key == key) for key in (here, there))
            return worse if other.is_yardstick else _rates_between(worse, other, metrics, pooled)
        logs = _logs_of_all((*metrics, pooled))
        if logs is None:
            return None
        *rates, of_all = (_rate_of_classes(one, here.true, there.true, pooled) for one in logs)
        return replace(self.compared, rates=tuple(rates), pooled=of_all)

    @property
    def subject(self) -> str:
        """Return what experts disagree about, inside a sentence: "missed melanomas against needless excisions"."""
        against = "" if self.unit.is_yardstick else f" against {self.unit.mistake.many}"
        return f"{self.compared.mistake.many}{against}"

    def marked(self, mistakes: Sequence[MistakeRates]) -> tuple[MistakeRates, ...]:
        """Return the mistakes, with the two marked that divide the experts, if neither is the yardstick."""
        if self.unit.is_yardstick or self.of_classes:
            return tuple(mistakes)
        keys = self.compared.pooled.key, self.unit.pooled.key
        return tuple(replace(one, is_divisive=one.pooled.key in keys) for one in mistakes)

    def in_words(self, names: Sequence[str], *, opposed: bool = False) -> tuple[str, str]:
        """Return a headline, and what each of the two experts furthest apart says.

        Experts who are `opposed` disagree even if every ratio to the yardstick could be the same.
        """
        compared = self.compared
        if compared.factor < SAME:
            return "They agree", "Nothing counts more for one of them than for another."
        text = self._ends_in_words(names)
        times = f": {compared.times}." if compared.times else "."
        plausible = all(rate.plausible for rate in compared.rates)
        ranges = "Their plausible ranges" if plausible else "Their ranges"
        about = compared.mistake.many
        if compared.plainly_apart:
            unlike = ", not a lack of answers" if plausible else " if every answer is right"
            return (
                f"They disagree most about {self.subject}",
                f"{text}{times} {ranges} do not meet, so this is a difference of opinion{unlike}.",
            )
        if compared.disjoint is None:
            return (
                f"They differ most about {about}",
                f"{text}{times} Without ranges, it is unknown how certain that is.",
            )
        differ = f"They differ most about {about}. {text}{times}" if compared.known else f"{text}."
        if opposed:
            return "They disagree about the order", differ
        meet = "nearly meet, which may be chance" if compared.disjoint else "meet"
        return "No clear disagreement", f"{differ} {ranges} {meet}, so more answers could bring them together."

    def _ends_in_words(self, names: Sequence[str]) -> str:
        """Return what one counts for the two experts furthest apart, one whose ratio is known first."""
        compared, unit = self.compared, self.unit.mistake
        (first, one), (second, other) = sorted(
            ((names[index], compared.rates[index]) for index in compared.ends),
            key=lambda end: end[1].in_words() == NOT_KNOWN,
        )
        if one.in_words() == NOT_KNOWN:
            return f"What one {compared.mistake.one} counts is not known for {first} nor for {second}"
        units = unit.one if _counts_as(one).endswith(" 1") else unit.many
        then = "it is not known" if other.in_words() == NOT_KNOWN else _counts_as(other)
        counts = "counts, on average," if self.of_classes else "counts"
        return f"For {first} one {compared.mistake.one} {counts} {_counts_as(one)} {units}, for {second} {then}"


def _rates_between(
    worse: MistakeRates, other: MistakeRates, metrics: Sequence[ElicitedMetric], pooled: ElicitedMetric, among: int = 1
) -> MistakeRates:
    """Return the ratio of two mistakes by the metrics of experts and the pooled one."""
    *rates, of_all = (rate_between(metric, worse.pooled.key, other.pooled.key) for metric in (*metrics, pooled))
    return MistakeRates(worse.mistake, tuple(rates), of_all, among)


def _most_divisive(logs: Floats) -> tuple[int, int]:
    """Return the two rows of logs, shape (n, experts), whose difference varies most between two of the experts."""
    differences = [logs[:, one] - logs[:, other] for one, other in combinations(range(logs.shape[1]), 2)]
    between = max(differences, key=np.ptp)
    return int(between.argmax()), int(between.argmin())


def _logs_of_classes(metric: ElicitedMetric) -> Floats | None:
    """Return draws of the mean log-cost of the mistakes on each class, (draws, k); None without, or where one is 0."""
    costs, errors = metric.cost_samples, error_cells(len(metric.classes))
    if costs is None or not (costs[:, errors] > 0).all():
        return None
    logs = np.log(np.where(errors, costs, 1.0))
    return np.asarray(logs.sum(axis=2) / errors.sum(axis=1))


def _logs_of_all(metrics: Sequence[ElicitedMetric]) -> list[Floats] | None:
    """Return `_logs_of_classes` of every metric; None if one has none."""
    logs = [one for metric in metrics if (one := _logs_of_classes(metric)) is not None]
    return logs if len(logs) == len(metrics) else None


def _rate_of_classes(logs: Floats, one: int, other: int, metric: ElicitedMetric) -> ExchangeRate:
    """Return what a mistake on a class counts in units of one on another, on geometric average."""
    apart = logs[:, one] - logs[:, other]
    low, high = np.exp(range_of_draws(apart)).tolist()
    words = mistake_words(metric, MistakeKey(one, None))
    return ExchangeRate(one, None, float(np.exp(np.median(apart))), low, high, False, words)


def _is_number(rate: ExchangeRate) -> bool:
    """Return whether a ratio is known and not 0."""
    return rate.ratio > 0 and not rate.bounded


def _counts_as(rate: ExchangeRate) -> str:
    """Return "as much as 7.5"; of a bound or a wide range "as at least 40"."""
    return f"as {'' if rate.bounded or rate.wide else 'much as '}{rate.in_words()}"
