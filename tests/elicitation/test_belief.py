"""What is believed: draws of the posterior, and what is read off them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.belief import ParticlePosterior, Posterior
from elicit_app.elicitation.oracles import LinearOracle
from elicit_app.elicitation.prior import NeverWorse, WeightPrior
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Question, Strength
from elicit_app.elicitation.response import N_PARAMETERS, ResponseModel, evidence
from elicit_app.elicitation.sampler import remembered
from metrics.batches import completed
from metrics.elicited.family import LPM, family_of

SEEDS = st.integers(0, 2**20)
FAMILIES = st.sampled_from(["dlpm", "lpm"])


def model(prior: WeightPrior) -> ResponseModel:
    """Return what is believed of people who judge random pairs."""
    rng = np.random.default_rng(7)
    return ResponseModel.of_people(prior, gains(prior, pairs(prior.n_classes, 200, rng)), rng)


def start_of(prior: WeightPrior, n: int, seed: int = 1) -> ParticlePosterior:
    return ParticlePosterior.from_prior(prior, model(prior), n, np.random.default_rng(seed))


def pairs(k: int, n: int, rng: np.random.Generator) -> list[Question]:
    prevalence = rng.dirichlet(np.full(k, 20.0))
    a, b = prevalence[:, None] * rng.dirichlet(np.ones(k), size=(2, n, k))
    return [Question(*both) for both in zip(a, b, strict=True)]


def gains(prior: WeightPrior, questions: list[Question]) -> np.ndarray:
    return np.array([prior.gain(*question.rates) for question in questions])


def any_belief(family: str, k: int, seed: int, n: int = 30) -> Posterior:
    """Return a belief of any draws at all."""
    rng = np.random.default_rng(seed)
    prior = WeightPrior.of(family, k)
    size = prior.size + N_PARAMETERS
    draws = rng.standard_normal(size) + min(rng.exponential(), 1.5) * rng.standard_normal((n, size))
    return ParticlePosterior(prior, ResponseModel(np.eye(prior.size), np.ones(11)), draws, float(n))


def after(belief: Posterior, history: list[Asked], seed: int = 0) -> Posterior:
    rng = np.random.default_rng(seed)
    for n in range(len(history)):
        answers, newest = evidence(history[: n + 1], belief.prior), evidence(history[n : n + 1], belief.prior)
        belief = completed(belief.updating(answers, newest, rng))
    return belief


class TestAnswers:
    @pytest.mark.parametrize(
        "answer",
        [
            Answer(Choice.FIRST),
            Answer(Choice.SECOND),
            Answer(Choice.EQUAL),
            Answer(Choice.FIRST, Strength.SLIGHTLY),
            Answer(Choice.FIRST, Strength.CLEARLY),
        ],
        ids=str,
    )
    def test_an_answer_weighs_the_prior_by_its_chance(self, answer):
        prior, n = WeightPrior.of("lpm", 2), 1200
        question = Question(np.array([[0.45, 0.05], [0.2, 0.3]]), np.array([[0.3, 0.2], [0.15, 0.35]]))
        history = [Asked(question, answer)]
        found = after(start_of(prior, n), history)
        many = start_of(prior, 100_000, 2)
        share = np.exp(many.response.log_likelihood(many.weights, many.person, evidence(history, prior))[:, 0])
        share /= share.sum()
        for place in range(prior.size + N_PARAMETERS):
            mine, all_of_them = found.draws[:, place], many.draws[:, place]
            mean, square = share @ all_of_them, share @ all_of_them**2
            spread = np.sqrt(square - mean**2)
            assert mine.mean() == pytest.approx(mean, abs=5 * spread / np.sqrt(n))
            assert mine.std() / spread == pytest.approx(1, abs=5 / np.sqrt(2 * n) + 0.05)

    @pytest.mark.parametrize("family", ["dlpm", "lpm"])
    def test_true_answers_lead_to_the_truth(self, family):
        rng = np.random.default_rng(5)
        prior = WeightPrior.of(family, 3)
        truth = np.exp(prior.log_weights(rng.standard_normal(prior.size)))
        expert = LinearOracle(family_of(family).weight_matrix(prior.normalised(truth)))
        history = [Asked(question, expert.answer(question)) for question in pairs(3, 35, rng)]
        start = start_of(prior, 320)
        end = after(start, history)
        missed = [np.linalg.norm(belief.estimate - prior.normalised(truth)) for belief in (start, end)]
        assert missed[1] < min(0.2, missed[0] / 2)
        ratios = [np.log(belief.weights[:, 0] / belief.weights[:, 1]).std() for belief in (start, end)]
        assert ratios[1] < 0.75 * ratios[0]
        others = gains(prior, pairs(3, 300, rng))
        assert end.agreement(others) > max(0.9, start.agreement(others))
        assert ((others @ np.abs(end.estimate) > 0) == (others @ truth > 0)).mean() > 0.9
        # Who is never wrong is thought sharper than before.
        assert np.median(end.person.sensitivity) > np.median(start.person.sensitivity)

    def test_contradictions_make_the_expert_seem_less_sharp(self):
        prior = WeightPrior.of("lpm", 2)
        question = Question(np.array([[0.45, 0.05], [0.25, 0.25]]), np.array([[0.25, 0.25], [0.05, 0.45]]))
        history = [Asked(question, Answer(choice)) for choice in (Choice.FIRST, Choice.SECOND) * 4]
        start = start_of(prior, 320)
        steady = after(start, [Asked(question, Answer(Choice.FIRST))] * 8)
        torn = after(start, history)
        assert np.median(torn.person.sensitivity) < np.median(steady.person.sensitivity)
        assert torn.person.lapse.mean() >= steady.person.lapse.mean()

    def test_the_same_chance_gives_the_same_belief(self):
        prior = WeightPrior.of("lpm", 3)
        history = [Asked(question, Answer(Choice.FIRST)) for question in pairs(3, 3, np.random.default_rng(3))]
        start = start_of(prior, 64)
        one, same, other = (after(start, history, seed).draws for seed in (4, 4, 5))
        np.testing.assert_array_equal(one, same)
        assert not np.allclose(one, other)


class TestOrders:
    CONSTRAINTS = (NeverWorse((0, 1), (1, 0)), NeverWorse((2, 0), (1, 0)), NeverWorse((1, 0), (1, 2)))

    @pytest.mark.parametrize("structure", ["iid", "structured"])
    def test_the_prior_with_orders_is_the_prior_where_they_hold(self, structure):
        prior, n = WeightPrior.of("lpm", 3, structure, self.CONSTRAINTS), 1500
        belief = start_of(prior, n)
        assert prior.allowed(belief.log_weights).all()
        many = prior.log_weights(np.random.default_rng(2).standard_normal((60_000, 6)))
        wanted, mine = many[prior.allowed(many)], belief.log_weights
        error = np.sqrt(wanted.var(axis=0) * (1 / n + 1 / len(wanted)))
        # Moves of a stand-in that learns from the draws are a little less than independent.
        assert np.abs((mine.mean(axis=0) - wanted.mean(axis=0)) / error).max() < 6
        # Of tails this heavy a standard deviation would be what the farthest few draws make it.
        inner = [np.diff(np.quantile(logs, [0.1, 0.9], axis=0), axis=0) for logs in (mine, wanted)]
        np.testing.assert_allclose(*inner, rtol=0.2)

    def test_orders_hold_whatever_is_answered_and_follow_from_each_other(self):
        prior = WeightPrior.of("lpm", 3, constraints=self.CONSTRAINTS)
        start = start_of(prior, 200)
        against = LinearOracle(-np.array([[0, 9.0, 1], [1, 0, 0.1], [9, 1, 0]]))
        history = [Asked(question, against.answer(question)) for question in pairs(3, 10, np.random.default_rng(2))]
        belief = after(start, history)
        slack = belief.log_weights[:, prior.order[:, 1]] - belief.log_weights[:, prior.order[:, 0]]
        assert slack.min() >= -1e-9
        costs = np.abs(LPM.costs(belief.samples))
        assert (costs[:, 0, 1] <= costs[:, 1, 2] + 1e-9).all()
        estimate = LPM.costs(belief.estimate)
        for small, large in self.CONSTRAINTS:
            assert estimate[small] <= estimate[large] + 1e-9


class TestWhatIsReadOffIt:
    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 4), SEEDS)
    def test_estimates_and_draws_are_normalised(self, family, k, seed):
        belief = any_belief(family, k, seed)
        for weights in (belief.estimate, *belief.samples):
            if family == "dlpm":
                assert weights.min() > 0
                assert weights.sum() == pytest.approx(1)
            else:
                assert weights.max() < 0
                assert np.linalg.norm(weights) == pytest.approx(1)

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 4), SEEDS)
    def test_intervals_are_of_costs_relative_to_the_largest(self, family, k, seed):
        belief = any_belief(family, k, seed)
        cost = family_of(family).costs(belief.estimate)
        intervals = belief.intervals
        assert intervals.shape == (k, k, 2)
        assert not intervals[np.eye(k, dtype=bool)].any()
        assert (intervals[..., 0] <= intervals[..., 1]).all()
        np.testing.assert_allclose(intervals[cost == 1], 1)
        # 90 % of the draws of every ratio lie inside.
        of_draws = family_of(family).costs(belief.samples)
        true, predicted = np.argwhere(cost == 1)[0]
        ratios = of_draws / of_draws[:, true, predicted, None, None]
        inside = (intervals[..., 0] - 1e-9 <= ratios) & (ratios <= intervals[..., 1] + 1e-9)
        assert inside.mean(axis=0).min() >= 0.8
        if family == "dlpm":
            for row in range(k):
                assert len(np.unique(intervals[row][np.arange(k) != row], axis=0)) == 1

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 4), SEEDS)
    def test_the_estimate_is_made_of_medians_of_ratios(self, family, k, seed):
        belief = any_belief(family, k, seed)
        logs = belief.log_weights
        largest = [np.median(logs - logs[:, [unit]], axis=0).max() <= 0 for unit in range(logs.shape[1])]
        assume(any(largest))  # as of three things each may exceed the next in most of the draws
        sizes = np.abs(belief.estimate)
        ratios = np.exp(np.median(belief.log_ratios, axis=0))
        np.testing.assert_allclose(sizes / sizes[belief.yardstick], ratios, rtol=1e-6)

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, st.integers(2, 4), SEEDS)
    def test_agreement_is_a_share_and_sure_where_the_belief_is(self, family, k, seed):
        belief = any_belief(family, k, seed)
        some = gains(belief.prior, pairs(k, 40, np.random.default_rng(seed)))
        assert 0 <= belief.agreement(some) <= 1
        assert belief.agreement(-some) == pytest.approx(belief.agreement(some))
        sure = replace(belief, draws=belief.draws[[0, 0, 0]])
        assert sure.agreement(some) == 1
        np.testing.assert_allclose(np.ptp(sure.intervals, axis=2), 0, atol=1e-12)
        summary = belief.summary(some)
        assert summary.agreement == belief.agreement(some)
        np.testing.assert_array_equal(summary.weights, belief.estimate)
        np.testing.assert_array_equal(summary.intervals, belief.intervals)

    @settings(deadline=None, max_examples=40)
    @given(FAMILIES, SEEDS, st.booleans())
    def test_chances_are_those_of_every_draw(self, family, seed, graded):
        belief = any_belief(family, 3, seed)
        some = gains(belief.prior, pairs(3, 5, np.random.default_rng(seed)))
        answer_probabilities = belief.answer_probabilities(some, graded)
        assert answer_probabilities.shape == (5 if graded else 3, 30, 5)
        np.testing.assert_allclose(answer_probabilities.sum(axis=0), 1, atol=1e-12)

    def test_before_any_answer_every_coordinate_is_standard_normal(self):
        belief = start_of(WeightPrior.of("lpm", 3), 4000)
        assert np.abs(belief.draws.mean(axis=0)).max() < 5 / np.sqrt(4000)
        assert np.abs(np.cov(belief.draws.T) - np.eye(6 + N_PARAMETERS)).max() < 0.1


def equal_points(logs: np.ndarray, n: int, seed: int) -> list[Asked]:
    """Return equal points of two mistakes of three classes, out of 1,000, by somebody who errs a little."""
    rng = np.random.default_rng(seed)
    prior = WeightPrior.of("lpm", 3)
    cells = [(i, j) for i in range(3) for j in range(3) if i != j]
    history = []
    while len(history) < n:
        moved, other = (cells[place] for place in rng.choice(6, 2, replace=False))
        amount = int(rng.integers(5, 40))
        count = round(
            amount * np.exp(logs[prior.index(*other)] - logs[prior.index(*moved)] + 0.2 * rng.standard_normal())
        )
        if not 0 < count < 300:
            continue
        sides = [np.diag([350, 350, 300]) for _ in range(2)]
        for side, (true, predicted), more in zip(sides, (moved, other), (1, amount), strict=True):
            side[true, predicted] += more
            side[true, true] -= more
        question = Question(*sides, 1000)
        history.append(Asked(question, Answer(Choice.EQUAL, moved=Moved("first", *moved, count, 1))))
    return history


class TestEqualPoints:
    TRUTH = np.array([1.5, -0.5, 0.8, -1.0, 0.0, 0.4])

    def test_they_move_ratios_to_what_was_said_and_more_of_them_narrow(self):
        history = equal_points(self.TRUTH, 16, 3)
        start = start_of(WeightPrior.of("lpm", 3), 320)
        widths = []
        for n in (0, 6, 16):
            belief = after(start, history[:n])
            ratios = belief.log_weights - belief.log_weights.mean(axis=1, keepdims=True)
            widths.append(ratios.std(axis=0).mean())
        assert widths[0] > 1.5 * widths[1] > 1.5 * widths[2]
        off = ratios.mean(axis=0) - (self.TRUTH - self.TRUTH.mean())
        assert np.abs(off).max() < 0.6
        assert (np.abs(off) < 3 * ratios.std(axis=0)).all()

    def test_the_order_of_the_answers_does_not_matter(self):
        history = equal_points(self.TRUTH, 10, 4)
        start = start_of(WeightPrior.of("lpm", 3), 600)
        one, other = after(start, history), after(start, history[::-1], 5)
        spread = one.log_ratios.std(axis=0)[1:]
        apart = np.abs(np.median(one.log_ratios, axis=0) - np.median(other.log_ratios, axis=0))[1:]
        assert (apart < 0.25 * spread + 0.05).all()


class TestEffectiveDraws:
    def test_they_are_enough_while_asking_and_to_show(self):
        history = equal_points(TestEqualPoints.TRUTH, 8, 3)
        belief = after(start_of(WeightPrior.of("lpm", 3), 320), history)
        assert 200 <= belief.effective_draws <= 320
        shown = belief.refined(evidence(history, belief.prior), np.random.default_rng(1))
        assert 1000 <= shown.effective_draws <= len(shown.draws)
        # The same belief: medians within what so many draws know.
        apart = np.abs(np.median(shown.log_ratios, axis=0) - np.median(belief.log_ratios, axis=0))
        assert (apart <= 6 * shown.log_ratios.std(axis=0) / np.sqrt(belief.effective_draws) + 1e-9).all()

    def test_fewer_draws_keep_the_ranges(self):
        belief = any_belief("lpm", 3, 1, n=4000)
        fewer = belief.condensed(1000)
        assert len(fewer.log_weights) == 1000
        assert fewer.effective_draws <= 1000
        np.testing.assert_array_equal(fewer.log_weights, belief.condensed(1000).log_weights)
        assert {tuple(row) for row in fewer.log_weights} <= {tuple(row) for row in belief.log_weights}
        spread = belief.log_ratios.std(axis=0) + 1e-12
        ends = [
            np.quantile(one.log_weights - one.log_weights[:, [belief.yardstick]], [0.05, 0.95], axis=0)
            for one in (belief, fewer)
        ]
        assert (np.abs(ends[0] - ends[1]) <= 0.05 * spread).all()

    def test_draws_that_remember_their_parents_are_worth_less(self):
        before = np.random.default_rng(1).standard_normal((400, 3))
        assert remembered(before, before) == pytest.approx(1)
        assert remembered(before, np.random.default_rng(2).standard_normal((400, 3))) < 0.05
