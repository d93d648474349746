"""Counts about the same two mistakes that differ more than those of most people, and which mistake is graver."""

import numpy as np
import pytest

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.conflicting_counts import conflicting_counts
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Question

POSITIVE = np.linspace(0.05, 0.95, 100)
CASES = Cases.counted(np.repeat([0, 1], 50), np.column_stack([1 - POSITIVE, POSITIVE]))
PROCEDURE = Bayes([CASES], family="lpm", seed=0, population=10_000)


def named(rate: float) -> Asked:
    """Return the answer that one case of 0 called 1 counts as `rate` of 1 called 0: a count is moved until it does."""
    mild = 1000 if rate > 1 else 100
    first, second = np.array([[4000, 1000], [mild, 5000 - mild]]), np.array([[3990, 1010], [0, 5000]])
    moved = Moved("second", 0, 1, 1000 + round(mild / rate), 1010)
    return Asked(Question(first, second, 10_000), Answer(Choice.EQUAL, moved=moved))


@pytest.mark.parametrize("turned", [False, True])
def test_counts_that_differ_more_than_those_of_most_people_are_named(turned):
    history = [named(1 / rate if turned else rate) for rate in (4, 40, 5, 1)]
    conflict = conflicting_counts(PROCEDURE, history)
    assert (conflict.higher_answer, conflict.lower_answer) == (1, 3)
    assert (conflict.grave, conflict.mild) == ((1, 0) if turned else (0, 1))
    assert (conflict.most, conflict.least, conflict.factor) == pytest.approx((40.0, 1.0, 40.0), rel=0.05)
    assert conflicting_counts(PROCEDURE, history, left_out=[1]) is None, "the others err by no more than people do"


def test_counts_that_err_as_those_of_most_people_are_left_in_peace():
    rng = np.random.default_rng(5)
    found = [
        conflicting_counts(PROCEDURE, [named(np.exp(rate)) for rate in 1 + 0.6 * rng.standard_normal(8)])
        for _ in range(12)
    ]
    assert sum(one is not None for one in found) <= 1


def test_choices_alone_never_lie_far_apart():
    question = named(4).question
    small = Question(np.array([[4000, 1000], [1, 4999]]), np.array([[3999, 1001], [0, 5000]]), 10_000)
    chosen = [
        Asked(question, Answer(Choice.FIRST)),
        Asked(question, Answer(Choice.SECOND)),
        Asked(small, Answer(Choice.FIRST)),
    ]
    assert conflicting_counts(PROCEDURE, 4 * chosen) is None
