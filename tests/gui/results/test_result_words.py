"""Sentences on models, axes and break-even points of the result pages."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.gui.results.plotting import LinearAxis, ShareAxis, log_axis, slider_axis
from elicit_app.session.views.outcome import ModelView
from elicit_app.session.views.scenarios import CostLines
from elicit_app.session.words import sentences as words
from elicit_app.study.model import default_wording
from metrics import Consequence
from metrics.elicited.exchange import ExchangeRate

POSITIVE = st.floats(1e-3, 1e4)


def ratio(value=7.5, *, ninety=(5.0, 12.0), predicted=1):
    return ExchangeRate(0, predicted, value, *ninety, False, Consequence("cancer", "healthy", "Missed cancer"))


def model(name, rank, cost, rates, *, share=None):
    return ModelView(name, rank, cost, 0.0, None, 1.0, 0.8, share, np.array(rates))


def test_models_that_the_answers_cannot_tell_apart_are_tied():
    rates = [[1, 0], [0, 1]]
    tied = [model("ViT", 1, 355, rates), model("ResNet", 1, 360, rates), model("LR", 3, 561, rates)]
    assert words.model_headline(tied) == (
        "ViT and ResNet are tied",
        "Your answers and these cases cannot say which of the two is cheaper. Both are clearly ahead of the other.",
    )
    sure = [model("ResNet", 1, 360, rates, share=0.97), model("LR", 2, 561, rates, share=0.03)]
    assert words.model_headline(sure) == (
        "ResNet is cheapest",
        "Your answers and these cases put it clearly ahead of the other.",
    )
    assert words.model_headline(tied[:1])[0] == "One model: ViT"


@given(st.lists(POSITIVE, min_size=1, max_size=8), st.floats(0, 1))
def test_a_logarithmic_axis_holds_what_it_is_made_around_and_inverts(values, share):
    axis = log_axis(values)
    assert all(axis.low <= value <= axis.high for value in (1.0, *values))
    assert axis.position(axis.value(share)) == pytest.approx(share, abs=1e-9)


@given(st.lists(POSITIVE, min_size=1, max_size=8), st.integers(2, 9))
def test_ticks_are_ascending_and_inside(values, most):
    axis = log_axis(values)
    ticks = axis.ticks(most)
    assert all(a < b for a, b in pairwise(ticks))
    assert all(axis.low * 0.999 <= tick <= axis.high * 1.001 for tick in ticks)
    assert len(ticks) <= max(most, math.log10(axis.high / axis.low) + 1)
    assert 1.0 in ticks


@given(st.lists(st.floats(-1e6, 1e6), max_size=8), st.integers(1, 9))
def test_a_linear_axis_has_round_ticks_and_zero_among_them(values, most):
    axis = LinearAxis.around(values)
    ticks = axis.ticks(most)
    assert any(abs(tick) < 1e-9 * max(1.0, axis.high - axis.low) for tick in ticks)
    assert len(ticks) <= most + 2


def lines_of(bases, slopes):
    return CostLines(tuple(f"m{i}" for i in range(len(bases))), tuple(bases), tuple(slopes))


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 60)), min_size=1, max_size=5),
    st.floats(0.01, 1),
    st.floats(2, 1000),
    st.floats(0, 1),
)
def test_the_segments_are_the_lower_envelope(models, low, high, share):
    lines = lines_of(*zip(*models, strict=True))
    segments = lines.segments(low, high)
    assert segments[0].low == low
    assert segments[-1].high == high
    assert all(a.high == b.low and a.name != b.name for a, b in pairwise(segments))
    value = low * (high / low) ** share
    inside = [one for one in segments if one.low <= value <= one.high]
    costs = dict(zip(lines.names, lines.costs(value), strict=True))
    assert any(costs[one.name] == pytest.approx(min(costs.values()), abs=1e-6) for one in inside)


def test_the_lines_go_through_the_costs_of_the_models_at_the_estimate():
    models = [model("a", 1, 355.0, [[94, 26], [160, 720]]), model("b", 1, 360.0, [[85, 35], [60, 820]])]
    lines = CostLines.of(models, ratio())
    assert lines.costs(7.5) == pytest.approx((355.0, 360.0))
    assert lines.slope == (26.0, 35.0)
    assert [one.name for one in lines.segments(1, 50)] == ["b", "a"]


def test_any_wrong_answer_counts_the_whole_row():
    lines = CostLines.of([model("a", 1, 10.0, [[5, 2, 3], [0, 9, 1], [0, 0, 9]])], ratio(2.0, predicted=None))
    assert lines.slope == (5.0,)


@given(POSITIVE, st.floats(1.01, 50))
def test_the_slider_holds_the_plausible_range(value, spread):
    axis = slider_axis(ratio(value, ninety=(value / spread, value * spread)))
    assert axis.low <= value / spread
    assert axis.high >= value * spread
    assert axis.low <= 1 <= axis.high


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
    rates = [[1, 0], [0, 1]]
    a, b = model("A", 1, 10, rates), model("B", 2, 20, rates)
    tied = [a, model("B", 1, 11, rates)]
    assert words.scenario_headline([a, b], [a, b]) == ("A would be cheapest", "As in your study.")
    assert words.scenario_headline([a, b], tied) == ("A would be cheapest", "In your study A and B are tied.")
    assert words.scenario_headline(tied, [a, b]) == ("A and B would be tied", "In your study A is cheapest.")
    assert words.scenario_headline([a], [model("A", 1, 30, rates)]) == ("A would cost 10", "In your study it costs 30.")


def test_cases_are_counted_in_words_and_many_classes_are_summed_up():
    wording = default_wording(["cancer", "healthy"], "patient", "patients")
    assert words.cases_words((1, 999), wording) == "1 cancer, 999 healthy patients"
    ten = default_wording([str(i) for i in range(10)], "digit", "digits")
    said = words.cases_words((100,) * 6 + (10, 20, 30, 340), ten)
    assert said.endswith("340 class 9 digits, 160 others")
