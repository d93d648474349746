import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.drawing import LogAxis
from metrics.text import cost_text, two_digits


@pytest.mark.parametrize(
    ("value", "text"),
    [(7.46, "7.5"), (12, "12"), (1234, "1,200"), (0.0132, "0.013"), (1, "1"), (99.7, "100"), (0, "0"), (0.2, "0.2")],
)
def test_numbers_have_two_digits(value, text):
    assert two_digits(value) == text


@pytest.mark.parametrize("count", range(1, 400, 2))
def test_a_half_reads_the_same_after_it_was_a_logarithm(count):
    assert two_digits(math.exp(math.log(count) - math.log(2))) == two_digits(count / 2)


@given(st.floats(1e-9, 1e9))
def test_two_digits_are_close(value):
    assert float(two_digits(value).replace(",", "")) == pytest.approx(value, rel=0.051)


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        (None, ("0.2", "")),
        ((0.08, 0.31), ("0.2", "0.08 to 0.31")),
        ((0.2, 0.2), ("0.2", "")),
        ((0, 0.31), ("≤ 0.31", "bounded")),
        ((0.08, math.inf), ("≥ 0.08", "bounded")),
        ((0, math.inf), ("0.2", "not known")),
    ],
)
def test_a_cost_with_its_interval(interval, words):
    assert cost_text(0.2, interval) == words


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=6), st.floats(1.1, 10))
def test_an_axis_holds_its_values_and_few_ticks(values, room):
    axis = LogAxis.over([*values, 0.0, math.inf], room)
    places = [axis.position(value) for value in sorted(values)]
    assert places == sorted(places)
    assert 0 < places[0] <= places[-1] < 1
    assert len(axis.ticks()) <= 7
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks())
    assert (axis.position(axis.low / 2), axis.position(axis.high * 2)) == (0, 1)
