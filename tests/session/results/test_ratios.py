import math

import numpy as np
import pytest

from elicit_app.elicitation.questions import Outcome
from elicit_app.session.journal.events import Guess
from elicit_app.session.results.ratios import headline_of, ratios_of
from metrics import ElicitedMetric

CLASSES = ("red", "yellow", "green")


def of(weights, family, **more):
    outcome = Outcome(family, np.array(weights), more.pop("bounded", (None,) * len(weights)), "expert", 9, **more)
    metric = ElicitedMetric.from_weights(
        CLASSES, outcome.weights, family, intervals=outcome.intervals, samples=outcome.samples
    )
    return metric, outcome


def test_every_mistake_is_compared_with_the_yardstick():
    weights = -np.array([2.0, 8.0, 1.0, 4.0, 0.5, 2.0])
    metric, outcome = of(weights / np.linalg.norm(weights), "lpm")
    ratios = ratios_of(metric, outcome, (1, 0), (Guess(true=0, predicted=2, ratio=20),))
    assert [(view.true, view.predicted) for view in ratios] == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert [view.ratio for view in ratios] == pytest.approx([2, 8, 1, 4, 0.5, 2])
    assert [view.guess for view in ratios] == [None, 20, None, None, None, None]
    assert [view.is_yardstick for view in ratios] == [False, False, True, False, False, False]
    assert headline_of(ratios) is ratios[1]


def test_dlpm_has_one_ratio_for_each_truth():
    metric, outcome = of([0.6, 0.3, 0.1], "dlpm")
    ratios = ratios_of(metric, outcome, (1, 0), (Guess(true=0, ratio=3),))
    assert [(view.true, view.predicted, view.is_yardstick) for view in ratios] == [
        (0, None, False),
        (1, None, True),
        (2, None, False),
    ]
    assert [view.ratio for view in ratios] == pytest.approx([2, 1, 1 / 3])
    assert ratios[0].guess == 3


def test_draws_give_ranges_of_the_ratio_itself_not_of_its_parts():
    # The yardstick and the mistake rise and fall together: their ratio is known, their sizes are not.
    size = np.linspace(1, 100, 101)[:, None]
    draws = -np.hstack([3 * size, np.ones((101, 1)), size, np.ones((101, 3))])
    metric, outcome = of(-np.array([3.0, 1, 1, 1, 1, 1]) / np.sqrt(14), "lpm", samples=draws)
    ratios = ratios_of(metric, outcome, (1, 0), ())
    assert ratios[0].half == pytest.approx((3, 3))
    assert ratios[0].ninety == pytest.approx((3, 3))
    assert (ratios[2].half, ratios[2].ninety) == (None, None)
    low, high = ratios[1].ninety
    assert low == pytest.approx(1 / 95.05, rel=0.02)
    assert high == pytest.approx(1 / 5.95, rel=0.02)


def test_what_no_question_can_tell_is_said_to_be_bounded():
    intervals = np.zeros((3, 3, 2))
    intervals[0, 1:] = [1, math.inf]
    intervals[1, [0, 2]] = [0.5, 0.5]
    intervals[2, :2] = [0, 0.2]
    metric, outcome = of([0.6, 0.3, 0.1], "dlpm", intervals=intervals, bounded=((0.5, math.inf), None, (0.0, 0.1)))
    worst, yardstick, least = ratios_of(metric, outcome, (1, 0), ())
    assert worst.bounded
    assert worst.ninety == (2, math.inf)
    assert not yardstick.bounded
    assert least.bounded
    assert least.ninety == (0, pytest.approx(0.4))
    assert headline_of((worst, yardstick, least)) is worst, "where all are bounded, the worst"


def test_a_yardstick_that_costs_nothing_gives_no_number():
    metric, outcome = of(-np.array([1.0, 0, 0, 0, 0, 0]), "lpm")
    assert ratios_of(metric, outcome, (1, 0), ())[0].ratio == math.inf
