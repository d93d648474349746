"""Reasons to stop: what is known, which model is best, and how many questions are still needed."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation import LPM
from elicit_app.elicitation.agenda import (
    BEST_PROBABILITY,
    FEWEST_ANSWERS,
    KNOWN_FACTOR,
    answers_until_known,
    answers_until_settled,
    early_stop_reason,
    probability_best,
    ratio_factors,
)
from elicit_app.elicitation.belief import ParticlePosterior, Posterior
from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.choosing import best_pair
from elicit_app.elicitation.oracles import FlipOracle, LinearOracle, run
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.procedure import Outcome
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Answer, Asked, Choice, Purpose
from elicit_app.elicitation.reach import PolicyDoubt
from elicit_app.elicitation.response import N_PARAMETERS, ResponseModel
from elicit_app.registry.entries import procedure_for
from elicit_app.registry.procedures import BayesSetting
from elicit_app.study import open_study
from metrics.policies.information import NEGLIGIBLE

pytestmark = pytest.mark.usefixtures("few_draws")
SEEDS = st.integers(0, 2**20)
COSTS = np.array([[0.0, 1.0, 0.4], [0.2, 0.0, 0.1], [0.7, 0.3, 0.0]])


def belief_of(logs: np.ndarray, family: str = "lpm", k: int = 3) -> Posterior:
    """Return a belief of these log-weights (n, m)."""
    prior = WeightPrior.of(family, k, "iid")
    draws = np.hstack([prior.coordinates(logs), np.zeros((len(logs), N_PARAMETERS))])
    return ParticlePosterior(prior, ResponseModel(np.eye(prior.size), np.ones(11)), draws, float(len(logs)))


def around(centre: np.ndarray, spread: float, n: int = 400, seed: int = 1) -> Posterior:
    return belief_of(centre + spread * np.random.default_rng(seed).standard_normal((n, len(centre))))


def rates(k: int, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k))[:, None] * rng.dirichlet(np.ones(k), size=(n, k))


class TestRatios:
    @settings(deadline=None, max_examples=30)
    @given(SEEDS, st.floats(0, 2))
    def test_factors_are_one_or_more_and_that_of_the_yardstick_is_one(self, seed, spread):
        belief = around(np.random.default_rng(seed).standard_normal(6), spread, 50, seed)
        factors = ratio_factors(belief)
        assert factors.shape == (6,)
        assert factors.min() >= 1 - 1e-12
        assert factors[np.argmax(np.abs(belief.estimate))] == pytest.approx(1)
        shifted = belief_of(np.log(belief.weights) + 3)
        np.testing.assert_allclose(ratio_factors(shifted), factors, rtol=1e-9)

    def test_a_factor_spans_half_of_the_90_percent_range(self):
        logs = np.zeros((20_001, 6))
        logs[:, 0] = 2.0
        logs[:, 1] = np.linspace(-np.log(4), np.log(4), 20_001)
        # From 1/4 to 4 evenly in logs, 90 % of it is from 4^-.9 to 4^.9.
        np.testing.assert_allclose(ratio_factors(belief_of(logs)), [1, 4**0.9, 1, 1, 1, 1], rtol=1e-3)


class TestModels:
    @settings(deadline=None, max_examples=30)
    @given(st.integers(2, 4), st.integers(1, 6), SEEDS)
    def test_probabilities_sum_to_one_and_go_with_their_models(self, k, n, seed):
        belief = belief_of(np.random.default_rng(seed).standard_normal((40, k * k - k)), k=k)
        models = rates(k, n, seed)
        probabilities = probability_best(belief, models)
        assert probabilities.sum() == pytest.approx(1)
        assert probabilities.min() >= 0
        mixed = np.random.default_rng(seed).permutation(n)
        np.testing.assert_allclose(probability_best(belief, models[mixed]), probabilities[mixed])

    def test_the_same_matrix_shares_and_a_dominated_one_has_no_chance(self):
        belief = around(np.zeros(6), 1.0)
        good, other = rates(3, 2, 3)
        bad = good.copy()
        bad[0, 1] += bad[0, 0] / 2
        bad[0, 0] /= 2
        alone = probability_best(belief, np.array([good, other]))
        probabilities = probability_best(belief, np.array([good, bad, other, other]))
        assert probabilities[1] == 0
        assert probabilities[2] == probabilities[3]
        np.testing.assert_allclose([probabilities[0], probabilities[2:].sum()], alone)


class TestEnough:
    ONE = np.eye(3)[None] / 3

    def test_never_after_few_answers(self):
        sure = around(np.zeros(6), 0.0)
        assert early_stop_reason(sure, self.ONE, FEWEST_ANSWERS - 1) is None
        assert early_stop_reason(sure, self.ONE, FEWEST_ANSWERS) == "known"

    def test_known_within_the_factor_and_not_beyond(self):
        # The ratio of two independent weights of spread s lies within exp(+-1.645 sqrt(2) s) in 90 %.
        edge = np.log(KNOWN_FACTOR) / (1.645 * np.sqrt(2))
        centre = np.array([2.0, 0, 0, 0, 0, 0])
        assert early_stop_reason(around(centre, 0.8 * edge, 4000), self.ONE, 20) == "known"
        assert early_stop_reason(around(centre, 1.25 * edge, 4000), self.ONE, 20) is None

    def test_the_best_model_is_decided_where_nearly_all_draws_agree(self):
        # Two models that trade the first error for the second: the first is better where w0 < w1.
        models = np.stack([np.eye(3) / 3] * 2)
        models[0, 0] = [1 / 3 - 0.1, 0.1, 0.0]
        models[1, 0] = [1 / 3 - 0.1, 0.0, 0.1]
        logs = 2 * np.random.default_rng(1).standard_normal((1000, 6))
        for share, reason in ((BEST_PROBABILITY + 0.01, "best-model"), (BEST_PROBABILITY - 0.01, None)):
            logs[:, 0] = logs[:, 1] + np.where(np.arange(1000) < 1000 * share, -0.1, 0.1)
            belief = belief_of(logs)
            assert probability_best(belief, models)[0] == pytest.approx(share)
            assert early_stop_reason(belief, models, 20) == reason
            assert early_stop_reason(belief, models[:1], 20) is None  # one model alone is no choice
            assert early_stop_reason(belief, models[[0, 0]], 20) is None


class TestStillNeeded:
    @settings(deadline=None, max_examples=40)
    @given(SEEDS, st.floats(0, 3), st.integers(0, 40), st.integers(0, 40))
    def test_it_lies_within_what_may_be_asked(self, seed, spread, answers, most):
        belief = around(np.random.default_rng(seed).standard_normal(6), spread, 50, seed)
        fewest, likely = answers_until_known(belief, answers, most)
        assert 0 <= fewest <= likely <= most
        if most:
            assert fewest >= 1

    def test_the_less_is_known_the_more_is_needed(self):
        needed = [answers_until_known(around(np.zeros(6), spread), 10, 100) for spread in (0.05, 0.5, 1.0, 2.0)]
        assert needed == sorted(needed)
        assert needed[0][0] < needed[-1][0]
        assert needed[0][1] < needed[-1][1]

    @pytest.mark.parametrize("answers", [8, 20, 40])
    def test_half_the_spread_takes_four_times_the_answers(self, answers):
        narrow = around(np.zeros(6), 1.0, 4000)
        wanted = np.log(KNOWN_FACTOR) / np.log(ratio_factors(narrow).max())  # the spread at which ratios are known
        fewest, most = answers_until_known(around(np.zeros(6), 2 * wanted, 4000), answers, 1000)
        assert fewest < 3 * answers < most < 8 * answers

    def test_no_fewer_than_it_takes_to_stop_at_all(self):
        assert answers_until_known(around(np.zeros(6), 0.01), 2, 100)[0] == FEWEST_ANSWERS - 2


def counted(k: int, blur: float = 1.0) -> Cases:
    rng = np.random.default_rng(11)
    proba = rng.dirichlet(np.full(k, 0.5), 150)
    truth = [rng.choice(k, p=row) for row in proba]
    return Cases.counted(truth, proba**blur / (proba**blur).sum(axis=1, keepdims=True))


@cache
def known_two_classes() -> tuple[Bayes, Outcome, tuple[Asked, ...]]:
    """Return a sitting about two classes that ends because the costs are known."""
    procedure = Bayes([counted(2)], family="lpm", seed=1, population=1000, questions=60, stop=True)
    outcome, asked = run(procedure, LinearOracle(-COSTS[:2, :2]))
    return procedure, outcome, tuple(asked)


class TestSittings:
    """Every reason, reached by answers."""

    def test_two_classes_become_known(self):
        procedure, outcome, asked = known_two_classes()
        assert outcome.stopped == "known"
        assert FEWEST_ANSWERS <= len(asked) < 30
        assert ratio_factors(procedure.belief(asked)).max() <= KNOWN_FACTOR
        assert ratio_factors(procedure.belief(asked[:-1])).max() > KNOWN_FACTOR or len(asked) == FEWEST_ANSWERS

    def test_a_model_that_is_better_for_nearly_everybody_is_decided_first(self, run_without_result):
        rng = np.random.default_rng(3)
        good = counted(3)
        mixed = good.eta[rng.permutation(len(good.eta))]
        poor = Cases(0.5 * good.eta + 0.5 * mixed, good.outcome, good.weight)
        for models in ([good, poor], [good, poor, good]):  # a model that is there twice is still the best
            procedure = Bayes(models, family="lpm", seed=1, population=1000, questions=60, stop=True)
            reason, asked = run_without_result(procedure, LinearOracle(-COSTS))
            assert reason == "best-model"
            assert FEWEST_ANSWERS <= len(asked) < 60

    def test_who_errs_often_uses_up_the_budget(self, run_without_result):
        procedure = Bayes([counted(3)], family="lpm", seed=1, population=1000, questions=FEWEST_ANSWERS + 1, stop=True)
        erring = FlipOracle(LinearOracle(-COSTS), 0.3, np.random.default_rng(1))
        reason, asked = run_without_result(procedure, erring)
        assert (reason, len(asked)) == ("budget", FEWEST_ANSWERS + 1)

    def test_cannot_say_is_no_answer_to_stop_by(self):
        class Silent:
            def answer(self, question) -> Answer:
                return Answer(Choice.UNSURE)

        procedure = Bayes([counted(2)], family="lpm", seed=1, population=1000, questions=FEWEST_ANSWERS + 1, stop=True)
        outcome, asked = run(procedure, Silent())
        assert (outcome.stopped, len(asked)) == ("budget", FEWEST_ANSWERS + 1)

    def test_without_leave_to_stop_every_question_is_asked(self, run_without_result):
        most = len(known_two_classes()[2]) + 1
        procedure = Bayes([counted(2)], family="lpm", seed=1, population=1000, questions=most)
        reason, asked = run_without_result(procedure, LinearOracle(-COSTS[:2, :2]))
        assert (reason, len(asked)) == ("budget", most)
        assert all(one.question.purpose is Purpose.INFORMATIVE for one in asked)

    def test_progress_is_honest_about_what_may_still_come(self, simulated_answers):
        procedure = Bayes([counted(2)], family="lpm", seed=2, population=1000, questions=40, stop=True, checks=True)
        asked = simulated_answers(procedure, LinearOracle(-COSTS[:2, :2]))
        for n in range(len(asked)):
            progress = next(procedure.begin(asked[:n])).progress
            assert progress.asked == n
            assert 1 <= progress.fewest <= progress.most
            assert 0 <= progress.share < 1
            assert n + progress.fewest <= len(asked) + 3

    def test_before_policies_are_compared_as_many_questions_are_announced_as_for_costs(self, simulated_answers):
        choose, costs = (
            Bayes([counted(3), counted(3, 0.5)], family="lpm", seed=7, population=1000, stop=True, purpose=purpose)
            for purpose in ("choose", "costs")
        )
        asked = simulated_answers(choose, LinearOracle(-COSTS))[: FEWEST_ANSWERS - 2]
        for n in (0, 3, len(asked)):
            found, expected = (next(one.begin(asked[:n])).progress for one in (choose, costs))
            assert found.most == expected.most
            assert found.fewest <= expected.fewest

    def test_a_question_that_is_asked_is_still_to_come_even_if_only_repeats_are_left(self, simulated_answers):
        procedure = Bayes([counted(3)], family="lpm", seed=1, population=1000, questions=4, stop=True, checks=True)
        asked = simulated_answers(procedure, LinearOracle(-COSTS))
        assert asked[-1].question.purpose is Purpose.REPEAT
        assert [next(procedure.begin(asked[:n])).progress.fewest > 0 for n in range(len(asked))] == [True] * len(asked)

    def test_what_is_known_at_the_last_question_is_said_to_be_known(self, run_without_result):
        _, _, asked = known_two_classes()
        exact = Bayes([counted(2)], family="lpm", seed=1, population=1000, questions=len(asked), stop=True)
        reason, same = run_without_result(exact, LinearOracle(-COSTS[:2, :2]))
        assert len(same) == len(asked)
        assert reason == "known"


class TestPurpose:
    """What the answers are for decides which reason is enough."""

    ERRORS = ((0.1, 0.0), (0.0, 0.1))
    MODELS = np.array([[[1 / 3 - 0.1, *own], [0, 1 / 3, 0], [0, 0, 1 / 3]] for own in ERRORS])

    def test_costs_are_not_written_down_because_a_choice_is_settled(self):
        logs = 2 * np.random.default_rng(1).standard_normal((1000, 6))
        logs[:, 0] = logs[:, 1] - 0.1
        settled = belief_of(logs)
        found = {
            purpose: early_stop_reason(settled, self.MODELS, 20, purpose=purpose)
            for purpose in ("choose", "costs", "both")
        }
        assert found == {"choose": "best-model", "costs": None, "both": None}

    def test_for_both_the_choice_must_be_settled_too(self):
        tied = around(np.zeros(6), 0.05)
        clear = around(np.array([-1.0, 0, 0, 0, 0, 0]), 0.05)
        assert early_stop_reason(tied, self.MODELS, 20, purpose="costs") == "known"
        doubt = PolicyDoubt(0.5, 1.0, 1.0)
        assert early_stop_reason(tied, self.MODELS, 20, purpose="both", policy_doubt=lambda: doubt) is None
        assert early_stop_reason(clear, self.MODELS, 20, purpose="both") == "known"

    def test_for_both_a_choice_that_hardly_depends_on_the_values_needs_no_more_answers(self):
        tied = around(np.zeros(6), 0.05)
        for loss, reason in ((0.9 * NEGLIGIBLE, "known"), (1.1 * NEGLIGIBLE, None)):
            doubt = PolicyDoubt(0.5, loss, 1.0)
            assert early_stop_reason(tied, self.MODELS, 20, purpose="both", policy_doubt=lambda d=doubt: d) == reason

    def test_a_choice_that_known_values_would_change_is_not_settled(self):
        logs = 2 * np.random.default_rng(1).standard_normal((1000, 6))
        logs[:, 0] = logs[:, 1] - 0.1
        clear = belief_of(logs)
        found = {
            PolicyDoubt(BEST_PROBABILITY, 0.0, 0.09): "best-model",
            PolicyDoubt(BEST_PROBABILITY - 0.01, 0.0, 0.0): None,
            PolicyDoubt(BEST_PROBABILITY, 1.1 * NEGLIGIBLE, 0.0): None,  # improbable, but dear
            PolicyDoubt(BEST_PROBABILITY, 0.0, 0.11): None,  # the same policy, with other thresholds
        }
        for doubt, reason in found.items():
            assert early_stop_reason(clear, self.MODELS, 20, purpose="choose", policy_doubt=lambda d=doubt: d) == reason

    @given(st.floats(0.01, 1), st.integers(0, 30), st.integers(1, 30))
    def test_what_is_still_needed_lies_within_what_may_be_asked(self, share, answers, most):
        fewest, likely = answers_until_settled(np.array([share, 1 - share]), answers, most)
        assert 1 <= fewest <= likely <= most

    def test_for_a_choice_it_counts_what_one_could_do_at_these_costs(self, run_without_result):
        rng = np.random.default_rng(5)
        y_true = np.arange(300) % 2
        scores = y_true + 0.7 * rng.standard_normal(300)
        proba = np.clip(np.column_stack([1 - scores, scores]), 0.05, 0.95)
        proba /= proba.sum(axis=1, keepdims=True)
        cases = [Cases.counted(y_true, proba)]
        about = {"family": "lpm", "seed": 1, "population": 1000, "questions": FEWEST_ANSWERS + 1}
        procedure = Bayes(cases, **about, stop=True, purpose="choose")
        costs = np.array([[0.0, 1.0], [12.0, 0.0]])
        reason, asked = run_without_result(procedure, LinearOracle(-costs))
        assert reason in ("best-model", "known", "budget")
        assert len(asked) >= FEWEST_ANSWERS

    def test_where_it_stops_the_draws_of_the_values_choose_the_same_policy(self):
        rng = np.random.default_rng(7)
        y_true = np.arange(400) % 3
        models = []
        for noise in (0.6, 0.9):
            proba = np.exp((np.eye(3)[y_true] + noise * rng.standard_normal((400, 3))) / noise**2)  # well calibrated
            models.append(Cases.counted(y_true, proba / proba.sum(axis=1, keepdims=True)))
        procedure = Bayes(
            models, family="lpm", seed=0, population=1000, questions=30, stop=True, purpose="choose", checks=True
        )
        outcome, asked = run(procedure, LinearOracle(-COSTS))
        assert outcome.stopped == "best-model"  # known ratios end a choice too, settled or not

        def chosen(weights):
            costs = LPM.costs(weights)
            found = [one.usual() for one in models] + [one.least_cost(costs) for one in models]
            found += [models[0].constant(label) for label in range(3)]
            return int((np.array(found) * costs).sum(axis=(1, 2)).argmin())

        draws = procedure.belief(asked).samples
        same = np.mean([chosen(weights) == chosen(outcome.weights) for weights in draws])
        assert same > 0.9  # another sample of the belief than the one that stopped it

    @pytest.mark.parametrize("seed", range(3))
    def test_a_choice_is_settled_among_all_that_is_judged_whether_or_not_a_purpose_is_stated(self, seed):
        # A model with the better ranking whose probabilities are biased: as it decides now it is never the best.
        rng, y_true, models = np.random.default_rng(seed), np.arange(400) % 3, []
        for noise, bias in ((0.9, [0, 0, 0]), (0.8, [3, 0, -3])):
            proba = np.exp(2 * (np.eye(3)[y_true] + noise * rng.standard_normal((400, 3))) + bias)
            models.append(Cases.counted(y_true, proba / proba.sum(axis=1, keepdims=True)))
        procedure = Bayes(models, family="lpm", seed=1, population=1000, questions=24, stop=True)
        outcome, asked = run(procedure, LinearOracle(-COSTS))
        policies = [one for model in models for one in model.policies(LPM.costs(outcome.weights))]
        policies += [models[0].constant(label) for label in range(3)]
        best = probability_best(procedure.belief(asked), np.unique(np.round(policies, 12), axis=0)).max()
        assert outcome.stopped == "known" or best > 0.9

    def test_rivals_are_judged_on_what_can_be_chosen_from_the_first_time_it_may_stop(self, simulated_answers):
        procedure = Bayes(
            [counted(3)], family="lpm", seed=1, population=1000, questions=FEWEST_ANSWERS, stop=True, purpose="choose"
        )
        asked = simulated_answers(procedure, LinearOracle(-COSTS))
        assert len(asked) == FEWEST_ANSWERS
        _, among = procedure._rivals_before(asked)
        assert len(among) > 1

    def test_for_a_choice_questions_are_about_what_can_be_chosen(self, simulated_answers):
        rng = np.random.default_rng(5)
        y_true = np.arange(300) % 3
        proba = rng.dirichlet(np.ones(3), 300) + np.eye(3)[y_true]
        cases = [Cases.counted(y_true, proba / proba.sum(axis=1, keepdims=True))]
        about = {"family": "lpm", "seed": 1, "population": 1000, "questions": 2, "answers": "choice"}
        seen = {}
        for purpose in ("costs", "choose"):
            procedure = Bayes(cases, **about, purpose=purpose)

            def seeing(belief, pairs, goal, targets, graded, purpose=purpose):
                seen[purpose] = targets, goal
                return best_pair(belief, pairs, goal, targets, graded)

            procedure.asker.choose = seeing
            simulated_answers(procedure, LinearOracle(COSTS - 1))
        everybody = np.eye(3)[:, None, :] * cases[0].prevalence[None, :, None]
        between = procedure.prior.gain(everybody[0], everybody[1])
        assert len(seen["choose"][0]) < len(seen["costs"][0])
        assert np.abs(np.abs(seen["choose"][0]) - np.abs(between)).max(axis=1).min() < 1e-9
        assert seen["choose"][1] == "order"


def test_answers_that_half_the_time_are_given_at_random_end_no_sitting_by_agreeing_for_a_while():
    ended_before = 0
    for seed in (8, 20, 21):
        procedure = procedure_for(open_study("breast-cancer"), BayesSetting(purpose="costs", seed=seed).for_person())
        person = LinearOracle(LPM.weight_matrix(np.array([-0.3, -0.95])))
        outcome, asked = run(procedure, FlipOracle(person, 0.5, np.random.default_rng(seed)))
        models = procedure.asker.models
        lengths = range(FEWEST_ANSWERS, len(asked))
        known = [n for n in lengths if early_stop_reason(procedure.belief(asked[:n]), models, n, purpose="costs")]
        ended_before += bool(known)
        found = procedure.evidence_against_chance(asked)
        assert outcome.stopped == "budget" or found.is_plain
    assert ended_before, "the ratios alone were known before"
