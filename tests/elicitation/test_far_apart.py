"""Two answers that no exchange rate of two mistakes explains: what lies between them, and which mistake is graver."""

import numpy as np
import pytest

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.far_apart import farthest_apart
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Answer, Asked, Choice, Question

POSITIVE = np.linspace(0.05, 0.95, 100)
CASES = Cases.counted(np.repeat([0, 1], 50), np.column_stack([1 - POSITIVE, POSITIVE]))


def trade(grave: int, mild: int) -> Question:
    """Return a pair whose first side has so many fewer cases of 0 called 1, and so many more of 1 called 0."""
    first, second = np.array([[400, 100], [100 + mild, 400 - mild]]), np.array([[400 - grave, 100 + grave], [100, 400]])
    return Question(first, second, 1000)


@pytest.mark.parametrize("turned", [False, True])
def test_two_choices_that_no_rate_explains_are_apart_by_what_lies_between(turned):
    procedure = Bayes([CASES], family="lpm", seed=0, population=1000)
    said = [(trade(10, 90), Choice.FIRST), (trade(10, 40), Choice.FIRST), (trade(20, 20), Choice.SECOND)]
    history = [
        Asked(question.swapped(), Answer(choice.swapped())) if turned else Asked(question, Answer(choice))
        for question, choice in said
    ]
    apart = farthest_apart(procedure, history)
    assert (apart.more, apart.fewer, apart.grave, apart.mild) == (0, 2, 0, 1)
    assert (apart.most, apart.least, apart.factor) == pytest.approx((9.0, 1.0, 9.0))
    assert farthest_apart(procedure, history, left_out=[0]).factor == pytest.approx(4.0)
    assert farthest_apart(procedure, history[:2]) is None, "one rate, nine or more, explains both"


def test_the_mistake_that_two_answers_find_graver_is_named_first():
    procedure = Bayes([CASES], family="lpm", seed=0, population=1000)
    mild = [Asked(trade(90, 10), Answer(Choice.SECOND)), Asked(trade(20, 10), Answer(Choice.FIRST))]
    apart = farthest_apart(procedure, mild)
    assert (apart.more, apart.fewer, apart.grave, apart.mild) == (0, 1, 1, 0)
    assert (apart.most, apart.least) == pytest.approx((9.0, 2.0))
