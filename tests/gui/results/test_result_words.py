"""Sentences on models, axes and break-even points of the result pages."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.gui.results.plotting import ShareAxis
from elicit_app.session import sentences as words
from elicit_app.study.model import default_wording
from metrics.drawing import LinearAxis, LogAxis
from metrics.models.cost_curves import CostCurve

POSITIVE = st.floats(1e-3, 1e4)


@given(st.lists(POSITIVE, min_size=1, max_size=8), st.floats(0, 1))
def test_a_logarithmic_axis_holds_what_it_is_made_around_and_inverts(values, share):
    axis = LogAxis.around(values)
    assert all(axis.low <= value <= axis.high for value in (1.0, *values))
    assert axis.position(axis.value(share)) == pytest.approx(share, abs=1e-9)


@given(st.lists(POSITIVE, min_size=1, max_size=8), st.integers(2, 9))
def test_ticks_are_ascending_and_inside(values, most):
    axis = LogAxis.around(values)
    ticks = axis.ticks(most)
    assert all(a < b for a, b in pairwise(ticks))
    assert all(axis.low * 0.999 <= tick <= axis.high * 1.001 for tick in ticks)
    assert len(ticks) <= max(most, math.log10(axis.high / axis.low) + 1)
    assert 1.0 in ticks


def test_one_long_range_does_not_squeeze_an_axis_of_ratios():
    estimates, ends = [1.5, 2.0, 3.0], [0.7, 3.0, 1.0, 4.0, 1.2, 9_000.0]
    axis = LogAxis.around(estimates, ends)
    assert all(axis.low <= value <= axis.high for value in (*estimates, *ends[:-1]))
    assert axis.high < 500
    low = LogAxis.around(estimates, [0.0005, 3.0, *ends[2:]]).low
    assert 0.0005 < low < 0.1
    assert LogAxis.around([2.0], [0.01, 400.0]).high > 400, "beside no other range none is too long"
    assert LogAxis.around([4_000.0, 2.0], ends).high > 4_000, "estimates are held"


def test_what_may_be_the_best_is_on_the_axis_of_differences():
    near = [(0.0, (0.0, 0.0)), (0.5, (-0.02, 1.4))]
    assert LinearAxis.of_differences([*near, (30.0, (0.1, 75.0))], 60.0).high < 3
    assert LinearAxis.of_differences([*near, (30.0, (-1.5, 75.0))], 60.0).holds((30.0, 30.0))


def test_one_long_range_does_not_squeeze_an_axis_of_differences():
    usual = [(0.0, None), (10.0, (-5.0, 30.0)), (20.0, (1.0, 45.0)), (25.0, (2.0, 60.0))]
    axis = LinearAxis.of_differences([*usual, (30.0, (-900.0, 950.0))], 1_000.0)
    assert axis.low <= -5
    assert 60 <= axis.high < 200
    assert axis.low > -400
    assert LinearAxis.of_differences(usual[:2], 1_000.0).high > 30
    dear = [(80.0, (60.0, 300.0)), (400.0, (200.0, 900.0)), (2_000.0, (900.0, 9_000.0))]
    assert LinearAxis.of_differences([*usual, *dear], 1_000.0).high < 400, (
        "one long range does not make room for the next"
    )


@given(st.lists(st.floats(-1e6, 1e6), max_size=8), st.integers(1, 9))
def test_a_linear_axis_has_round_ticks_and_zero_among_them(values, most):
    axis = LinearAxis.around(values)
    ticks = axis.ticks(most)
    assert any(abs(tick) < 1e-9 * max(1.0, axis.high - axis.low) for tick in ticks)
    assert len(ticks) <= most + 2


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 60)), min_size=1, max_size=5), st.floats(0, 1))
def test_between_two_break_even_points_one_model_is_cheapest(models, share):
    fixed, slope = map(np.array, zip(*models, strict=True))
    curve = CostCurve(tuple(f"m{i}" for i in range(len(models))), fixed, slope, 1.0, None, "")
    points = curve.break_even_points()
    assert all(a.above == b.below and a.ratio <= b.ratio for a, b in pairwise(points))
    ends = [0.0, *(point.ratio for point in points), 1_000.0]
    names = [curve.cheapest(0.0), *(point.above for point in points)]
    for low, high, name in zip(ends, ends[1:], names, strict=False):
        costs = dict(zip(curve.models, curve.cost(low + share * max(high - low, 0.0)), strict=True))
        assert costs[name] == pytest.approx(min(costs.values()), abs=1e-6)


@given(st.floats(0.001, 0.999), st.integers(3, 100_000))
def test_an_axis_of_shares_holds_the_study_and_goes_there_and_back(own, population):
    axis = ShareAxis.around(own, population)
    assert 0 < axis.low < axis.high < 1
    ticks = axis.ticks(9)
    assert list(ticks) == sorted(ticks)
    for value in (axis.low, 0.5, axis.high):
        assert axis.value(axis.position(value)) == pytest.approx(value)
    if 1 / population <= own <= 1 - 1 / population:
        assert axis.low <= own <= axis.high


def test_a_scenario_is_compared_with_the_study():
    assert words.scenario_sentence("Use A.", "Use A.") == "As in your study."
    assert words.scenario_sentence("Use A.", "Use B.") == "In your study: Use B."


def test_cases_are_counted_in_words_and_many_classes_are_summed_up():
    wording = default_wording(["cancer", "healthy"], "patient", "patients")
    assert words.cases_words((1, 999), wording) == "1 cancer, 999 healthy patients"
    ten = default_wording([str(i) for i in range(10)], "digit", "digits")
    said = words.cases_words((100,) * 6 + (10, 20, 30, 340), ten)
    assert said.endswith("340 class 9 digits, 160 others")
