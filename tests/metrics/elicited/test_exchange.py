"""Exchange rates and the headline: ranges of the ratio itself, bounds as bounds, wide ranges as ranges."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Consequence, ElicitedMetric, Provenance, Quality, exchange_rates
from metrics.elicited.exchange import ExchangeRate, Headline, called, headline, headline_of
from metrics.elicited.family import MistakeKey
from metrics.text import probability, span, two_digits

CLASSES = ("red", "yellow", "green")
UNIT = Consequence("healthy", "cancer", "Needless biopsy", "needless biopsy", "needless biopsies")
MISSED = Consequence("cancer", "healthy", "Missed cancer", "missed cancer", "missed cancers")
YARDSTICK = ExchangeRate(1, 0, 1.0, 1.0, 1.0, True, UNIT)


def rate(value, low=None, high=None):
    return ExchangeRate(0, 1, value, low, high, False, MISSED)


@pytest.mark.parametrize(
    ("given", "sentence", "number", "beneath"),
    [
        (rate(7.5, 5, 12), "One missed cancer counts as much as", "7.5 needless biopsies", "5 to 12"),
        (rate(1.0, 0.5, 2), "One missed cancer counts as much as", "1 needless biopsy", "0.5 to 2"),
        (rate(7.5), "One missed cancer counts as much as", "7.5 needless biopsies", ""),
        (rate(30, 20, math.inf), "One missed cancer counts as", "at least 20 needless biopsies", "only bounded"),
        (rate(0.1, 0, 0.2), "One missed cancer counts as", "at most 0.2 needless biopsies", "only bounded"),
        (rate(2, 0.47, 10), "One missed cancer counts as", "0.47 to 10 needless biopsies", "90 % plausible"),
        (rate(3, 0, math.inf), "How much one missed cancer counts", "is not known", ""),
        (rate(0.0), "One missed cancer counts as", "nothing beside one needless biopsy", ""),
    ],
)
def test_the_sentence_says_as_much_as_the_answers_do(given, sentence, number, beneath):
    said = Headline(given, YARDSTICK)
    assert (said.start, said.number, given.range_in_words()) == (sentence, number, beneath)


def test_a_range_is_wide_from_more_than_ten_times():
    assert not rate(3, 1, 10).wide
    assert rate(3, 1, 10.1).wide
    assert Headline(rate(3, 1, 10.1), YARDSTICK).below == ("90 % plausible, not known more closely.", "")
    assert Headline(rate(7.5, 5, 12), YARDSTICK).below == ("Plausible (90 %): ", "5 to 12")
    assert Headline(rate(9, 5, math.inf), YARDSTICK).below[0].startswith("Only bounded")


def test_what_a_search_leaves_open_is_not_called_plausible():
    close, wide = (replace(rate(*found), plausible=False) for found in ((7.5, 5, 12), (3, 1, 10.1)))
    assert Headline(close, YARDSTICK).below == ("Left open if every answer is right: ", "5 to 12")
    assert Headline(close, YARDSTICK).in_words().endswith("7.5 needless biopsies (left open: 5 to 12).")
    assert Headline(wide, YARDSTICK).below == ("Left open, not known more closely.", "")
    assert Headline(wide, YARDSTICK).in_words().endswith("1 to 10 needless biopsies (left open).")
    stated = ElicitedMetric.from_weights(
        ["a", "b"], [-1, -4], "lpm", intervals=[[[0, 0], [0.2, 0.3]], [[1, 1], [0, 0]]]
    )
    found = [replace(stated, provenance=Provenance(procedure=name)) for name in ("bayes", "lpm")]
    assert [exchange_rates(metric)[1].plausible for metric in (stated, *found)] == [True, True, False]


def test_every_mistake_is_compared_with_the_yardstick():
    costs = [[0, 2, 8], [1, 0, 4], [0.5, 2, 0]]
    metric = ElicitedMetric.from_cost_matrix(CLASSES, costs, yardstick=("yellow", "red"))
    rates = exchange_rates(metric)
    assert [r.key for r in rates] == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert [r.ratio for r in rates] == pytest.approx([2, 8, 1, 4, 0.5, 2])
    assert [r.is_yardstick for r in rates] == [False, False, True, False, False, False]
    assert headline(metric).rate is not None
    assert headline(metric).rate.key == (0, 2)


def test_draws_give_estimates_and_ranges_of_the_ratio_itself_not_of_its_parts():
    # The yardstick and the mistake rise and fall together: their ratio is known, their sizes are not.
    size = np.linspace(1, 100, 101)[:, None]
    draws = -np.hstack([3 * size, np.ones((101, 1)), size, np.ones((101, 3))])
    metric = ElicitedMetric.from_weights(
        CLASSES, -np.array([5.0, 1, 1, 1, 1, 1]), "lpm", samples=draws, yardstick=("yellow", "red")
    )
    known, unknown, yardstick, *_ = exchange_rates(metric)
    assert (known.ratio, known.half, known.range_90) == (pytest.approx(3), *2 * (pytest.approx((3, 3)),))
    assert (yardstick.half, yardstick.range_90) == (None, None)
    assert unknown.ratio == pytest.approx(1 / 50.5)
    assert unknown.range_90 == (pytest.approx(1 / 95.05, rel=0.02), pytest.approx(1 / 5.95, rel=0.02))


@pytest.mark.parametrize("n_draws", [1, 2, 7, 1000])
def test_in_units_of_the_worst_mistake_the_ranges_are_those_of_the_cost_matrix(n_draws):
    draws = -np.exp(np.random.default_rng(n_draws).normal(0, 1, (n_draws, 6)))
    relative = draws / draws[:, [1]]
    middle = np.quantile(relative, 0.5, axis=0, method="inverted_cdf")
    ends = np.moveaxis(np.quantile(relative, (0.05, 0.95), axis=0), 0, -1)
    ends = np.stack([np.minimum(ends[:, 0], middle), np.maximum(ends[:, 1], middle)], axis=-1)
    intervals = np.zeros((3, 3, 2))
    intervals[~np.eye(3, dtype=bool)] = ends / middle.max()
    metric = ElicitedMetric.from_weights(
        CLASSES, -middle, "lpm", samples=draws, intervals=intervals, yardstick=("red", "green")
    )
    quarters = np.quantile(relative, (0.25, 0.75), axis=0)
    half = np.stack([np.minimum(quarters[0], middle), np.maximum(quarters[1], middle)], axis=-1)
    for rate, own, its_half in zip(exchange_rates(metric), ends, half, strict=True):
        assert (rate.low, rate.high) == pytest.approx(tuple(own))
        assert rate.is_yardstick or rate.half == pytest.approx(tuple(its_half))
        assert rate.low <= rate.ratio <= rate.high


def test_an_end_that_the_answers_leave_open_stays_open():
    intervals = np.zeros((3, 3, 2))
    intervals[0, 1:] = [1, math.inf]
    intervals[1, [0, 2]] = [0.5, 0.5]
    intervals[2, :2] = [0, 0.2]
    draws = np.random.default_rng(1).dirichlet([6, 3, 1], 200)
    for samples in (None, draws):
        metric = ElicitedMetric.from_weights(
            CLASSES, [0.6, 0.3, 0.1], "dlpm", intervals=intervals, samples=samples, yardstick=("yellow", "red")
        )
        worst, _, least = exchange_rates(metric)
        assert worst.bounded
        assert worst.range_90[1] == math.inf
        assert least.bounded
        assert least.range_90[0] == 0
        if samples is None:
            assert worst.range_90[0] == 2
            assert least.range_90[1] == pytest.approx(0.4)
            assert headline(metric).number == "at least 2 cases of yellow called something else"


def test_in_units_of_a_mistake_that_may_cost_nothing_there_is_no_upper_end():
    intervals = np.zeros((3, 3, 2))
    intervals[0, 1:], intervals[1, [0, 2]], intervals[2, :2] = [0.5, 0.7], [0, 0.4], [0.1, 0.1]
    metric = ElicitedMetric.from_weights(
        CLASSES, [0.6, 0.3, 0.1], "dlpm", intervals=intervals, yardstick=("yellow", "red")
    )
    worst, _, least = exchange_rates(metric)
    assert worst.range_90 == (pytest.approx(0.5 / 0.4), math.inf)
    assert least.range_90 == (pytest.approx(0.1 / 0.4), math.inf)
    intervals[1, [0, 2]] = [0.2, math.inf]
    metric = replace(metric, intervals=intervals)
    assert exchange_rates(metric)[0].range_90 == (0.0, pytest.approx(0.7 / 0.2)), "nor a lower one, if it may cost more"


def test_the_headline_goes_by_the_number_that_is_said():
    ratios = {"bounded": [50.0, (3.0, math.inf)], "known": [5.0, (4.0, 6.0)]}
    intervals = np.zeros((3, 3, 2))
    intervals[1, [0, 2]] = 1
    for row, (_, ends) in zip((0, 2), ratios.values(), strict=True):
        intervals[row, [j for j in range(3) if j != row]] = ends
    metric = ElicitedMetric.from_weights(
        CLASSES, [50, 1, 5], "dlpm", intervals=intervals / 50, yardstick=("yellow", "red")
    )
    assert headline(metric).rate.key == (2, None), "at least 3 is less than 5"
    intervals[0, 1:, 0] = 14
    metric = ElicitedMetric.from_weights(
        CLASSES, [50, 1, 5], "dlpm", intervals=intervals / 50, yardstick=("yellow", "red")
    )
    assert headline(metric).rate.key == (0, None), "at least 14 is more than 5"


def test_what_is_only_bounded_above_is_named_after_what_is_known_and_before_what_costs_nothing():
    at_most, known, nothing = rate(0.4, 0.0, 9.0), rate(2.0, 1.0, 3.0), rate(0.0, 0.0, 0.0)
    assert headline_of((at_most, known, YARDSTICK)).rate is known
    assert headline_of((rate(0.1, 0.0, 3.0), nothing, at_most, YARDSTICK)).rate is at_most
    worse, either = rate(4.0, 1.5, 15.0), rate(5.0, 0.8, 40.0)
    assert headline_of((either, worse, at_most, YARDSTICK)).rate is worse, "the other may be as slight as the yardstick"
    assert headline_of((either, rate(0.4, 0.3, 0.5), at_most, YARDSTICK)).rate is either


def test_what_costs_nothing_is_named_before_what_is_not_known_at_all():
    unknown, nothing = rate(3.0, 0.0, math.inf), replace(rate(0.0, 0.0, 0.0), predicted=2)
    assert headline_of((unknown, nothing, YARDSTICK)).rate is nothing
    assert headline_of((unknown, YARDSTICK)).number == "is not known"


def test_of_equal_mistakes_the_first_is_named_and_the_yardstick_never():
    metric = ElicitedMetric.from_cost_matrix(CLASSES, 1 - np.eye(3), yardstick=("red", "yellow"))
    assert headline(metric).rate.key == (0, 2)
    metric = ElicitedMetric.from_cost_matrix(CLASSES[:2], [[0, 8], [1, 0]], yardstick=("red", "yellow"))
    assert headline(metric).in_words().startswith("One case of yellow called red counts as much as 0.12 cases of")


def test_why_a_result_is_provisional_stands_behind_the_sentence():
    metric = ElicitedMetric.from_cost_matrix(
        CLASSES[:2], [[0, 8], [1, 0]], quality=Quality(provisional="only the choice of a model is settled.")
    )
    said = headline(metric).in_words()
    assert said.endswith("called red. The numbers are provisional: only the choice of a model is settled.")


def test_a_yardstick_that_costs_nothing_gives_way_to_the_cheapest_mistake():
    metric = ElicitedMetric.from_cost_matrix(CLASSES[:2], [[0, 1], [0, 0]], yardstick=("yellow", "red"))
    assert [(r.is_yardstick, r.ratio) for r in exchange_rates(metric)] == [(True, 1), (False, 0)]


def test_of_two_classes_the_one_wrong_answer_has_a_name():
    assert called(("ill", "healthy"), MistakeKey(0, None)) == "ill called healthy"


@pytest.mark.parametrize(
    ("value", "said"),
    [(7.5, "7.5"), (1, "1"), (0.1, "0.1"), (0.0437, "0.044"), (9.96, "10"), (12.4, "12"), (12345, "12,000")],
)
def test_a_number_has_two_significant_digits_and_no_exponent(value, said):
    assert two_digits(value) == said


@given(st.floats(1e-6, 1e9))
def test_a_number_is_never_off_by_more_than_its_rounding(value):
    assert float(two_digits(value).replace(",", "")) == pytest.approx(value, rel=0.051)


def test_ranges_are_said_by_the_ends_that_are_known():
    assert span(0.268, 0.273) == "0.268 to 0.273"
    assert span(0.27, 0.27) == "about 0.27"


def test_probabilities_near_the_ends_are_not_said_to_be_certain():
    assert [probability(share) for share in (0.004, 0.01, 0.58, 0.99, 0.995, None)] == [
        *("< 1 %", "1 %", "58 %", "99 %", "> 99 %", "–")
    ]


@pytest.mark.parametrize("exact", [True, False])
def test_of_many_weights_the_intervals_state_the_ranges_if_they_take_the_yardstick_as_exact(exact):
    k, rng = 26, np.random.default_rng(4)
    off, middle = ~np.eye(k, dtype=bool), np.exp(rng.normal(0, 1, k * k - k))
    unit = 5 * (k - 1)
    low, high = 0.25 * middle, 4 * middle
    if exact:
        low[unit] = high[unit] = middle[unit]
    intervals = np.zeros((k, k, 2))
    intervals[off] = np.stack([low, high], axis=-1) / middle.max()
    draws = middle * np.exp(rng.normal(0, 0.1, (40, len(middle))))
    names = [f"c{number}" for number in range(k)]
    metric = ElicitedMetric.from_weights(
        names, -middle, "lpm", samples=-draws, intervals=intervals, yardstick=("c5", "c0")
    )
    rate = exchange_rates(metric)[0]
    drawn = np.quantile(draws[:, 0] / draws[:, unit], (0.05, 0.95))
    ratio = middle[0] / middle[unit]
    assert rate.range_90 == (pytest.approx((ratio / 4, 4 * ratio)) if exact else pytest.approx(tuple(drawn)))
    assert rate.low < rate.half[0] < rate.half[1] < rate.high, "the middle half comes from the draws that are kept"
