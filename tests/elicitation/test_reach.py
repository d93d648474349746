"""What questions can show, and which ends of ranges they reach."""

import numpy as np
import pytest

from elicit_app.elicitation.belief import ParticlePosterior
from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.oracles import UtilityOracle, run
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.reach import Ranges, doubt_of_policies, ranges_reached, reliance_on_prior, widest_rates
from elicit_app.elicitation.response import N_PARAMETERS, ResponseModel


def belief_of(*log_ranges):
    """Return a belief in which the first weight is the yardstick, and the others lie in these ranges below it."""
    prior = WeightPrior.of("dlpm", 1 + len(log_ranges))
    logs = np.column_stack([np.zeros(400), *(np.linspace(*ends, 400) for ends in log_ranges)])
    draws = np.hstack([prior.coordinates(logs), np.zeros((400, N_PARAMETERS))])
    return ParticlePosterior(prior, ResponseModel.of_ratios(), draws, 400.0)


def ends_of(low, high):
    return np.exp(np.quantile(np.linspace(low, high, 400), [0.05, 0.95]))


def open_ends(belief, widest, unit=0):
    ranges = ranges_reached(belief, widest, unit)
    return ranges.ends, ranges.bounded


def test_an_end_that_no_question_reaches_is_open_and_others_stay():
    low, high = ends_of(-8, -3)
    ends, bounded = open_ends(belief_of((-8, -3)), np.array([1.0, 50.0]))
    np.testing.assert_allclose(ends[:, 1], [0.0, high], rtol=1e-4)
    assert bounded == (None, (0.0, pytest.approx(high, rel=1e-4)))
    ends, bounded = open_ends(belief_of((-8, -3)), np.array([1.0, 1e6]))
    np.testing.assert_allclose(ends[:, 1], [low, high], rtol=1e-4)
    assert bounded == (None, None)


def test_that_many_of_another_mistake_can_be_traded_does_not_close_an_end():
    _, bounded = open_ends(belief_of((-8, -3)), np.array([1e6, 50.0]))
    assert bounded[1] is not None


@pytest.mark.parametrize(("yardstick", "is_open"), [(2.0, True), (20.0, False)])
def test_a_ratio_above_one_needs_many_of_the_yardstick(yardstick, is_open):
    ends, _ = open_ends(belief_of((-3, 2)), np.array([yardstick, 1e6]))
    assert np.isinf(ends[1, 1]) == is_open


def test_an_end_is_reached_by_way_of_a_mistake_whose_own_end_is():
    between, slight, widest = (-4, -2), (-7, -5), np.array([2_000.0, 100.0, 100.0])
    assert open_ends(belief_of(slight), widest[:2])[1][1] is not None, "100 of it do not outweigh the yardstick"
    assert open_ends(belief_of(between, slight), widest)[1] == (None, None, None)
    assert None not in open_ends(belief_of(slight, slight), widest)[1][1:], "nothing between is reached"
    assert open_ends(belief_of(between, slight), np.full(3, 100.0))[1][2] is not None, "beyond every trade"


def test_of_a_slight_mistake_that_is_the_unit_those_within_reach_are_known():
    slight, alike, widest = (-8, -6), (-7, -5), np.full(3, 60.0)
    belief = belief_of(slight, alike)
    assert open_ends(belief, widest)[1][1] is not None, "it is too slight to be compared with the worst"
    ends, bounded = open_ends(belief, widest, unit=1)
    assert bounded[1:] == (None, None)
    np.testing.assert_allclose(ends[:, 2], np.exp(1.0), rtol=1e-4)
    assert bounded[0] == (pytest.approx(np.exp(6.1), rel=1e-2), np.inf)


def test_the_widest_trades_are_those_of_each_mistake_and_of_two_only():
    gains = np.array([[10, -2, 0, 0], [-3, 6, 0, 0], [0, 4, -1, 0], [1, 1, -50, 0], [0, 7, 0, 0]]) / 1000
    np.testing.assert_allclose(widest_rates(gains), [5, 4, 0.25, 0])


def drawn(prior, n, spread):
    """Return the belief whose draws are those of the prior, drawn together by `spread`."""
    logs = spread * prior.log_weights(np.random.default_rng(1).standard_normal((n, prior.size)))
    draws = np.hstack([prior.coordinates(logs), np.zeros((n, N_PARAMETERS))])
    return ParticlePosterior(prior, ResponseModel.of_ratios(), draws, float(n))


@pytest.mark.parametrize("prior", [WeightPrior.of("dlpm", 2), WeightPrior.of("lpm", 3, piles=[[(0, 1), (0, 2)]])])
def test_ranges_rest_on_the_prior_without_answers_and_hardly_do_where_answers_narrow_them(prior):
    anything, known = drawn(prior, 4_000, 1.0), drawn(prior, 4_000, 0.1)
    low, high = anything.ratio_ends
    wider = np.delete(1.5 * np.log([low, high]), anything.yardstick, axis=1)
    expected = np.exp(np.abs(wider / 3).max())  # the prior's ranges, on the log scale, are then half as wide again
    assert reliance_on_prior(anything, Ranges(anything.yardstick, anything.ratio_ends)) == pytest.approx(
        expected, rel=0.5
    )
    assert reliance_on_prior(known, Ranges(known.yardstick, known.ratio_ends)) < 1.1
    everything_open = np.stack([np.zeros(prior.size), np.full(prior.size, np.inf)])
    assert reliance_on_prior(anything, Ranges(0, everything_open)) == 1.0


def test_of_a_small_class_whose_mistakes_hardly_count_only_a_bound_is_said():
    """At most a hundred of its mistakes can be traded for one of the other class, so no question shows 1 : 200."""
    rng = np.random.default_rng(0)
    shares, n = np.array([0.98, 0.02]), 4_000
    true = rng.choice(2, n, p=shares)
    scores = 1.3 * rng.standard_normal((n, 2))
    scores[np.arange(n), true] += 2.2
    eta = np.exp(scores) * shares
    cases = Cases(eta / eta.sum(axis=1, keepdims=True), np.eye(2)[true], np.full(n, 1 / n))
    procedure = Bayes([cases], family="dlpm", seed=1, population=10_000, questions=14)
    costs = np.array([[0.0, 1.0], [0.005, 0.0]])
    outcome, _ = run(procedure, UtilityOracle(lambda counts: -float((costs * counts).sum())))
    low, high = outcome.bounded[1]
    assert low == 0
    assert high < 1 / 50


def test_a_yardstick_too_slight_for_its_cost_leaves_what_is_alike_known():
    """Two mistakes at 1 : 500 of the worst and 1 : 2 of each other: no question shows the one, any the other."""
    rng, k, n = np.random.default_rng(0), 3, 3_000
    true = rng.choice(k, n)
    scores = rng.standard_normal((n, k))
    scores[np.arange(n), true] += 2.0
    cases = Cases(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), np.eye(k)[true], np.full(n, 1 / n))
    costs = np.array([[0.0, 0.002, 0.3], [0.004, 0.0, 0.1], [1.0, 0.5, 0.0]])
    expert = UtilityOracle(lambda counts: -float((costs * counts).sum()))
    asked = {"family": "lpm", "seed": 1, "population": 1_000, "questions": 26}
    outcome, history = run(Bayes([cases], **asked, yardstick=(0, 1)), expert)
    slight, alike, worst = 0, 2, 4
    assert outcome.bounded[slight][0] == 0
    low, high = outcome.ranges
    assert (low[slight], high[slight]) == (1, 1)
    assert 0.5 < low[alike] < 2 < high[alike] < 50
    assert low[worst] > 20
    assert np.isinf(high[worst])
    other = Bayes([cases], **asked, yardstick=(2, 1)).conclude(history)
    assert other.ranges is None, "its own cost is known"
    np.testing.assert_array_equal(other.intervals, outcome.intervals)


class TestPolicies:
    """A model that decides at least expected cost, and two constant answers, about two classes."""

    PROBABILITIES = np.linspace(0.01, 0.99, 99)

    def decided_by(self, costs):
        """Return the matrices of the model, of calling every case the first class, and the second."""
        first = self.PROBABILITIES
        calls = [first * costs[0, 1] > (1 - first) * costs[1, 0], np.ones(99, dtype=bool), np.zeros(99, dtype=bool)]
        rates = np.stack([first, 1 - first]) / 99
        return np.array([np.stack([rates[:, call].sum(axis=1), rates[:, ~call].sum(axis=1)], axis=1) for call in calls])

    @staticmethod
    def costs(ratio):
        return np.array([[0.0, ratio], [1.0, 0.0]])

    def test_values_that_are_known_leave_no_doubt(self):
        assert doubt_of_policies(self.decided_by, self.costs(3.0), [self.costs(3.0)] * 5) == (1.0, 0.0, 0.0)

    def test_the_same_policy_may_save_much_by_deciding_by_the_values(self):
        doubt = doubt_of_policies(self.decided_by, self.costs(1.0), [self.costs(ratio) for ratio in (0.1, 1.0, 10.0)])
        assert (doubt.same, doubt.loss) == (1.0, 0.0)
        model = self.decided_by(self.costs(1.0))[0]
        now = [(model * self.costs(ratio)).sum() for ratio in (0.1, 1.0, 10.0)]
        then = [(self.decided_by(self.costs(ratio))[0] * self.costs(ratio)).sum() for ratio in (0.1, 1.0, 10.0)]
        assert doubt.anew == pytest.approx(1 - sum(then) / sum(now))
        assert doubt.anew > 0.3

    def test_another_policy_may_become_the_best(self):
        def crude(costs):
            return self.decided_by(self.costs(1.0))

        doubt = doubt_of_policies(crude, self.costs(1.0), [self.costs(1.0), self.costs(1000.0)])
        assert doubt.same == 0.5
        assert doubt.loss == doubt.anew > 0.3, "nothing follows the values"
