"""Beliefs about many weights: Gaussians fitted to intervals, against long runs that make no such approximation."""

from collections.abc import Iterator

import numpy as np
import pytest

from elicit_app.elicitation import intervals, propagation
from elicit_app.elicitation.belief import Posterior
from elicit_app.elicitation.intervals import IntervalPosterior, as_intervals, prior_covariances
from elicit_app.elicitation.prior import NeverWorse, WeightPrior
from elicit_app.elicitation.propagation import propagated
from elicit_app.elicitation.questions import Answer, Asked, Choice, Moved, Question
from elicit_app.elicitation.response import evidence
from elicit_app.problem import Problem
from metrics.batches import completed

K, CASES = 6, 6_000
PRIOR = WeightPrior.of("lpm", K)
CELLS = [(i, j) for i in range(K) for j in range(K) if i != j]


def trade(one: tuple[int, int], amount: int, other: tuple[int, int], against: int, base: int = 0) -> Question:
    """Return `amount` of one mistake against `against` of another, both on top of a base of the first."""
    sides = []
    for true, predicted, more in ((*one, amount), (*other, against)):
        side = np.diag(np.full(K, CASES // K))
        for cell, count in ((one, base), ((true, predicted), more)):
            side[cell] += count
            side[cell[0], cell[0]] -= count
        sides.append(side)
    return Question(sides[0], sides[1], CASES)


def answered(logs: np.ndarray, n: int, seed: int, error: float = 0.4) -> list[Asked]:
    """Return choices and equal points about random trades of two mistakes."""
    rng = np.random.default_rng(seed)
    history = []
    while len(history) < n:
        one, other = (CELLS[place] for place in rng.choice(len(CELLS), 2, replace=False))
        felt = logs[PRIOR.index(*other)] - logs[PRIOR.index(*one)] + error * rng.standard_normal()
        amount, against = (int(count) for count in rng.integers(10, 300, 2))
        if len(history) % 2:
            count = round(against * np.exp(felt))
            if not 0 < count < 900:
                continue
            answer = Answer(Choice.EQUAL, moved=Moved("first", *one, count, 20))
        else:
            answer = Answer(Choice.FIRST if np.log(amount / against) < felt else Choice.SECOND)
        history.append(Asked(trade(one, amount, other, against), answer))
    return history


def beliefs(history: list[Asked], prior: WeightPrior = PRIOR, seed: int = 1) -> Iterator[IntervalPosterior]:
    """Yields what is believed before any answer and after each."""
    belief = IntervalPosterior.from_prior(prior, np.random.default_rng(seed), 400)
    yield belief
    for n in range(len(history)):
        answers, newest = evidence(history[: n + 1], prior), evidence(history[n : n + 1], prior)
        belief = completed(belief.updating(answers, newest, np.random.default_rng([seed, n])))
        yield belief


def after(history: list[Asked], prior: WeightPrior = PRIOR, seed: int = 1) -> IntervalPosterior:
    return [*beliefs(history, prior, seed)][-1]


def truth(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows, columns = 0.7 * rng.standard_normal(K), 0.5 * rng.standard_normal(K)
    return np.array([rows[i] + columns[j] for i, j in CELLS]) + 0.7 * rng.standard_normal(len(CELLS))


def centred(logs: np.ndarray) -> np.ndarray:
    return logs - logs.mean(axis=-1, keepdims=True)


class TestPrior:
    def test_without_answers_rows_and_columns_share_strength(self):
        belief = IntervalPosterior.from_prior(PRIOR, np.random.default_rng(1), 4000)
        logs = belief.log_weights
        one, row, column, none = (logs[:, PRIOR.index(*cell)] for cell in ((0, 1), (0, 2), (3, 1), (4, 5)))
        for other, least in ((row, 0.3), (column, 0.1)):
            assert np.corrcoef(one, other)[0, 1] > least
        assert abs(np.corrcoef(one, none)[0, 1]) < 0.08
        assert belief.log_weights.shape == (4000, 30)

    def test_its_deviations_are_those_of_its_draws(self):
        belief = IntervalPosterior.from_prior(PRIOR, np.random.default_rng(1), 4000)
        prior = PRIOR.with_deviations(belief.deviations)
        assert centred(belief.log_weights).var(axis=0).mean() == pytest.approx(prior.centred_variances.mean(), rel=0.1)
        contrasts = np.eye(30) - 1 / 30
        np.testing.assert_allclose(prior.centred_variances, np.diag(contrasts @ prior.covariance @ contrasts.T))


class TestAnswers:
    @pytest.mark.parametrize("kind", ["choice", "equal"])
    def test_two_weights_are_known_as_their_exact_posterior_is(self, kind):
        """One answer: the ratio's posterior by reweighted draws of the prior."""
        question = trade((0, 1), 40, (2, 3), 120)
        answer = Answer(Choice.FIRST) if kind == "choice" else Answer(Choice.EQUAL, moved=Moved("first", 0, 1, 300, 1))
        history = [Asked(question, answer)]
        start = IntervalPosterior.from_prior(PRIOR, np.random.default_rng(3), 60_000)
        fit = start.response.log_likelihood(start.weights, start.person, evidence(history, PRIOR))[:, 0]
        share = np.exp(fit - fit.max())
        share /= share.sum()
        ratio = start.log_weights[:, PRIOR.index(0, 1)] - start.log_weights[:, PRIOR.index(2, 3)]
        mean = share @ ratio
        spread = np.sqrt(share @ ratio**2 - mean**2)
        found = after(history).refined(evidence(history, PRIOR), np.random.default_rng(5))
        mine = found.log_weights[:, PRIOR.index(0, 1)] - found.log_weights[:, PRIOR.index(2, 3)]
        assert mine.mean() == pytest.approx(mean, abs=0.15 * spread)
        assert mine.std() == pytest.approx(spread, rel=0.15)

    def test_answers_lead_to_the_truth_and_more_of_them_narrow(self):
        logs = truth(4)
        found_after = [*beliefs(answered(logs, 60, 5))]
        off, width = [], []
        for n in (10, 30, 60):
            found = centred(found_after[n].log_weights)
            off.append(np.abs(found.mean(axis=0) - centred(logs)).mean())
            width.append(found.std(axis=0).mean())
        assert off[2] < 0.75 * off[0]
        assert width == sorted(width, reverse=True)
        low, high = np.quantile(found, [0.05, 0.95], axis=0)
        assert ((low <= centred(logs)) & (centred(logs) <= high)).mean() >= 0.7

    def test_the_order_of_the_answers_does_not_matter(self):
        history = answered(truth(4), 24, 6)
        one, other = (after(order, seed=seed) for order, seed in ((history, 1), (history[::-1], 2)))
        apart = centred(one.log_weights).mean(axis=0) - centred(other.log_weights).mean(axis=0)
        spread = centred(one.log_weights).std(axis=0)
        # Two times the error of means of as many draws as both are worth.
        assert np.sqrt(np.mean((apart / spread) ** 2)) < 2.5 * np.sqrt(2 / one.effective_draws)

    def test_a_lost_start_is_found_again(self):
        history = answered(truth(4), 20, 7)
        answers = evidence(history, PRIOR)
        step_by_step = after(history)
        at_once = IntervalPosterior.from_prior(PRIOR, np.random.default_rng(1), 400).refitted(
            answers, np.random.default_rng(2)
        )
        apart = centred(step_by_step.log_weights).mean(axis=0) - centred(at_once.log_weights).mean(axis=0)
        assert np.sqrt(np.mean((apart / centred(step_by_step.log_weights).std(axis=0)) ** 2)) < 0.3

    def test_a_common_base_and_a_dominated_pair_do_no_harm(self):
        history = answered(truth(4), 8, 8)
        plain = Asked(trade((0, 1), 40, (2, 3), 120), Answer(Choice.FIRST))
        based = Asked(trade((0, 1), 40, (2, 3), 120, base=100), Answer(Choice.FIRST))
        np.testing.assert_allclose(
            after([*history, plain]).log_weights, after([*history, based]).log_weights, atol=1e-6
        )
        better, worse = trade((0, 1), 40, (0, 1), 90).first, trade((0, 1), 90, (0, 1), 90).first
        check = Asked(Question(better, worse, CASES), Answer(Choice.FIRST))
        apart = centred(after([*history, check]).log_weights).mean(axis=0) - centred(after(history).log_weights).mean(
            axis=0
        )
        assert np.abs(apart / centred(after(history).log_weights).std(axis=0)).max() < 0.6


class TestEvidence:
    @pytest.mark.parametrize(("n", "far"), [(20, 5.0), (40, 3.0)])
    def test_passes_that_go_astray_never_make_answers_likelier(self, n, far):
        history = answered(truth(4), n, 5)
        belief, answers = after(history), evidence(history, PRIOR)
        hyper = far * np.random.default_rng(1).standard_normal((300, belief.hyper.shape[1]))
        intervals = as_intervals(answers, PRIOR, hyper, belief.log_weights.mean(axis=0))
        squares = prior_covariances(intervals.projection, PRIOR)
        few, many = (
            propagated(intervals, PRIOR.spreads_at(hyper), squares, belief.site, passes).evidence for passes in (3, 10)
        )
        assert few.max() <= min(many.max() + 0.5, 0.0)

    @pytest.mark.parametrize("seed", [3, 5])
    def test_wide_spreads_and_small_errors_never_make_answers_likelier_either(self, seed):
        history = answered(truth(seed), 30, seed + 5)
        hyper = 3.0 * np.random.default_rng(seed).standard_normal((200, len(PRIOR.parts) + 4))
        hyper[:, 2], hyper[:, 4] = np.abs(hyper[:, 2]) + 2.0, -np.abs(hyper[:, 4]) - 1.5
        intervals = as_intervals(evidence(history, PRIOR), PRIOR, hyper, np.zeros(PRIOR.size))
        nothing = np.repeat([[1e-10], [0.0]], len(history), axis=1)
        squares = prior_covariances(intervals.projection, PRIOR)
        few, many = (
            propagated(intervals, PRIOR.spreads_at(hyper), squares, nothing, passes).evidence for passes in (12, 40)
        )
        assert few.max() == pytest.approx(many.max(), abs=3.0)

    def test_fits_in_parts_are_those_of_all_at_once(self, monkeypatch):
        history = answered(truth(4), 6, 9)
        whole = after(history)
        monkeypatch.setattr(propagation, "_MOST_NUMBERS", 50 * len(history) ** 2)
        np.testing.assert_allclose(after(history).log_weights, whole.log_weights, atol=1e-6)

    def test_sums_in_order_are_those_of_linear_algebra(self, monkeypatch):
        history = answered(truth(4), 12, 9)
        in_order = after(history)
        monkeypatch.setattr(propagation, "IN_ORDER", 0)
        monkeypatch.setattr(propagation, "_STEPS", 0)
        np.testing.assert_allclose(after(history).log_weights, in_order.log_weights, atol=1e-6)

    def test_some_weights_are_those_of_all(self):
        history = answered(truth(4), 6, 9)
        some = np.array([3, 4, 29])
        early = after(history).log_weights_of(some)
        belief = after(history)
        np.testing.assert_array_equal(early, belief.log_weights[:, some])
        np.testing.assert_array_equal(early, belief.log_weights_of(some))

    def test_preferences_of_a_pair_need_only_the_weights_that_it_involves(self, monkeypatch):
        history = answered(truth(4), 6, 9)
        gains = PRIOR.gain(*trade((0, 1), 40, (2, 3), 90).rates)[None]
        monkeypatch.setattr(intervals, "FEW_ENOUGH", 10)  # as with hundreds of weights
        by_all, belief = Posterior.latent(after(history), gains), after(history)
        monkeypatch.delattr(intervals._Drawn, "all")
        np.testing.assert_allclose(belief.latent(gains), by_all, rtol=1e-9)

    def test_more_answers_than_can_be_weighed_are_refused_in_words(self, monkeypatch):
        monkeypatch.setattr(intervals, "MOST_ANSWERS", 2)
        with pytest.raises(Problem, match="at most 2 answers can be combined; there are 3"):
            after(answered(truth(4), 3, 9))


class TestDraws:
    def test_the_same_chance_gives_the_same_draws(self):
        history = answered(truth(4), 6, 9)
        np.testing.assert_array_equal(after(history).log_weights, after(history).log_weights)
        assert not np.allclose(after(history).log_weights, after(history, seed=2).log_weights)

    def test_they_are_worth_enough_while_asking_and_in_the_result(self):
        history = answered(truth(4), 30, 10)
        belief = after(history)
        assert belief.effective_draws >= 150
        shown = belief.refined(evidence(history, PRIOR), np.random.default_rng(1))
        assert shown.effective_draws >= 800
        assert shown.log_weights.shape[1] == 30

    def test_stated_orders_hold_in_every_draw(self):
        prior = WeightPrior.of("lpm", K, constraints=[NeverWorse((0, 1), (2, 3)), NeverWorse((2, 3), (4, 5))])
        belief = after(answered(truth(4), 6, 11), prior)
        assert prior.allowed(belief.log_weights).all()

    def test_fewer_draws_are_worth_less(self):
        belief = after(answered(truth(4), 6, 12))
        some = belief.thinned(4)
        assert len(some.log_weights) == len(some.person.sensitivity) == len(belief.log_weights) // 4
        assert some.effective_draws == belief.effective_draws / 4


class TestARareClass:
    RARE = WeightPrior.of("lpm", K, shares=np.array([0.005, 0.4, 0.2, 0.15, 0.145, 0.1]))

    def test_before_any_answer_its_mistakes_are_expected_to_cost_more(self):
        logs = IntervalPosterior.from_prior(self.RARE, np.random.default_rng(1), 4_000).log_weights
        np.testing.assert_allclose(logs.mean(axis=0), self.RARE.centre, atol=0.2)
        assert self.RARE.centre[0] > 2 > self.RARE.centre[5] == 0
        usual = IntervalPosterior.from_prior(PRIOR, np.random.default_rng(1), 4_000).log_weights
        spread, usual_spread = ((each[:, 0] - each[:, 5]).std() for each in (logs, usual))
        assert spread > 1.3 * usual_spread

    def test_one_answer_about_it_tells_of_all_its_mistakes(self):
        one, other = (0, 1), (1, 0)
        first = Asked(trade(one, 40, other, 40), Answer(Choice.EQUAL, moved=Moved("first", *one, 40, 20)))
        before, now = (centred(each.log_weights).mean(axis=0) for each in beliefs([first], self.RARE))
        assert now[self.RARE.index(*one)] < before[self.RARE.index(*one)] - 0.8
        assert now[self.RARE.index(0, 5)] < before[self.RARE.index(0, 5)] - 0.4, "they share the power"

    def test_what_was_answered_outweighs_what_was_expected(self):
        logs = truth(0)
        history = answered(logs, 60, 0)
        rare = [PRIOR.index(0, to) for to in range(1, K)]
        off = []
        for prior in (PRIOR, self.RARE):
            fitted = IntervalPosterior.from_prior(prior, np.random.default_rng(1), 400).refitted(
                evidence(history, prior), np.random.default_rng(2)
            )
            off.append(np.abs(centred(fitted.log_weights).mean(axis=0) - centred(logs))[rare].mean())
        assert off[1] < off[0] + 0.2, "none of its mistakes costs more than others here"
