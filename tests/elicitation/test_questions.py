"""The vocabulary of asking: counts and rates, sides that change places, and counts that were moved."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from elicit_app.elicitation.questions import Answer, Choice, Moved, Question, Strength

FIRST = np.array([[20, 10], [5, 65]])
SECOND = np.array([[25, 5], [20, 50]])
PAIR = Question(FIRST, SECOND, 100)


def test_rates_are_counts_by_the_population_and_exact_rates_as_they_are():
    np.testing.assert_array_equal(PAIR.rates[0] * 100, FIRST)
    np.testing.assert_array_equal(PAIR.rates[1] * 100, SECOND)
    exact = Question(FIRST / 100, SECOND / 100)
    np.testing.assert_array_equal(exact.rates, PAIR.rates)
    assert exact.same_as(PAIR)
    assert Question.of_rates(*PAIR.rates, 100).first.dtype == np.int64


@pytest.mark.parametrize(
    "first", [FIRST / 100, FIRST + 1, np.array([[-20, 50], [5, 65]])], ids=["rates", "too many", "negative"]
)
def test_with_a_population_only_its_counts_are_matrices(first):
    with pytest.raises(ValueError, match="counts of 100 cases"):
        Question(first, SECOND, 100)


def test_sides_and_answers_change_places_together_and_back():
    assert PAIR.swapped().first is PAIR.second
    assert PAIR.swapped().swapped().same_as(PAIR)
    answer = Answer(Choice.FIRST, Strength.CLEARLY, 3.0, Moved("second", 0, 1, 4, 9), "because")
    assert answer.swapped() == Answer(Choice.SECOND, Strength.CLEARLY, 3.0, Moved("first", 0, 1, 4, 9), "because")
    assert answer.swapped().swapped() == answer


@given(st.sampled_from(["first", "second"]), st.sampled_from([(0, 1), (1, 0)]), st.integers(0, 100))
def test_a_moved_count_keeps_its_class_and_everything_else(side, cell, count):
    before = getattr(PAIR, side)
    assume(count <= before[cell[0]].sum())
    moved = PAIR.moved(Moved(side, *cell, count=count, start=0))
    after, other = getattr(moved, side), "second" if side == "first" else "first"
    assert after[cell] == count
    np.testing.assert_array_equal(after.sum(axis=1), before.sum(axis=1))
    np.testing.assert_array_equal(after[1 - cell[0]], before[1 - cell[0]])
    np.testing.assert_array_equal(getattr(moved, other), getattr(PAIR, other))
    back = PAIR.swapped().moved(Moved(side, *cell, count=count, start=0).swapped())
    assert back.swapped().same_as(moved)


def test_what_cannot_be_moved_is_refused():
    with pytest.raises(ValueError, match="only a mistake"):
        Moved("first", 1, 1, 3, 3)
    with pytest.raises(ValueError, match="negative"):
        Moved("first", 0, 1, -1, 3)
    with pytest.raises(ValueError, match="more than the cases"):
        PAIR.moved(Moved("first", 0, 1, 31, 10))
    with pytest.raises(ValueError, match="counts cases"):
        Question(FIRST / 100, SECOND / 100).moved(Moved("first", 0, 1, 3, 3))
    for true, predicted in ((0, 9), (9, 0), (-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="there is no mistake"):
            PAIR.moved(Moved("first", true, predicted, 3, 3))


def test_strength_belongs_to_a_preference():
    with pytest.raises(ValueError, match="first or second"):
        Answer(Choice.EQUAL, Strength.SLIGHTLY)
