"""Which pair is asked about: information in bits, effort, and what the answer is wanted for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.belief import ParticlePosterior, Posterior
from elicit_app.elicitation.choosing import best_pair, information
from elicit_app.elicitation.pairs import PairSet
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.elicitation.response import N_PARAMETERS, ResponseModel

SEEDS = st.integers(0, 2**20)
GRADED = st.booleans()
PRIOR = WeightPrior.of("lpm", 3)
MODEL = ResponseModel(np.eye(6), np.ones(11))


def any_belief(seed: int, response: ResponseModel = MODEL, least: float = 0.0) -> Posterior:
    """Return a belief of any draws at all, with at least some spread."""
    rng = np.random.default_rng(seed)
    size = PRIOR.size + N_PARAMETERS
    spread = least + rng.exponential()
    draws = rng.standard_normal(size) + spread * rng.standard_normal((60, size))
    return ParticlePosterior(PRIOR, response, draws, 60.0)


def sharp(logs: np.ndarray) -> Posterior:
    """Return a belief of these log-weights (n, m) about a person who never errs and sees no ties."""
    response = ResponseModel(np.eye(6), np.ones(11), log_sensitivity=25.0, log_tie=-40.0, lapse=0.0, rho=0.0)
    draws = np.hstack([PRIOR.coordinates(logs), np.zeros((len(logs), N_PARAMETERS))])
    return ParticlePosterior(PRIOR, response, draws, float(len(logs)))


def gains_of(seed: int, n: int = 12) -> np.ndarray:
    return 0.1 * np.random.default_rng(seed + 1).standard_normal((n, PRIOR.size))


def asking(gains: np.ndarray) -> PairSet:
    """Return pairs of given gains; of the matrices themselves nothing is read."""
    nothing = np.zeros((len(gains), 3, 3))
    plain = np.zeros(len(gains), dtype=bool)
    return PairSet(nothing, nothing, np.asarray(gains, dtype=float), plain, plain)


class TestInformation:
    @settings(deadline=None, max_examples=40)
    @given(SEEDS, GRADED)
    def test_it_lies_between_nothing_and_the_number_of_answers(self, seed, graded):
        told = information(any_belief(seed), gains_of(seed), graded)
        assert told.shape == (12,)
        assert told.min() >= -1e-9
        assert told.max() <= np.log2(5 if graded else 3)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS)
    def test_a_strength_tells_no_less(self, seed):
        belief, gains = any_belief(seed), gains_of(seed)
        assert (information(belief, gains, True) >= information(belief, gains) - 1e-9).all()

    @settings(deadline=None, max_examples=40)
    @given(SEEDS, GRADED)
    def test_sides_and_the_order_of_pairs_and_draws_do_not_matter(self, seed, graded):
        belief, gains = any_belief(seed), gains_of(seed)
        told = information(belief, gains, graded)
        np.testing.assert_allclose(information(belief, -gains, graded), told, atol=1e-9)
        mixed = np.random.default_rng(seed).permutation(len(gains))
        np.testing.assert_allclose(information(belief, gains[mixed], graded), told[mixed], atol=1e-9)
        turned = replace(belief, draws=belief.draws[::-1])
        np.testing.assert_allclose(information(turned, gains, graded), told, atol=1e-9)

    def test_of_many_pairs_each_tells_what_it_tells_alone(self):
        belief, gains = any_belief(3), gains_of(3, 150)
        alone = [information(belief, gains[[n]])[0] for n in range(150)]
        np.testing.assert_allclose(information(belief, gains), alone, atol=1e-12)

    @settings(deadline=None, max_examples=40)
    @given(SEEDS, GRADED)
    def test_who_answers_blindly_or_is_known_already_tells_nothing(self, seed, graded):
        blind = any_belief(seed, response=replace(MODEL, lapse=1.0))
        np.testing.assert_allclose(information(blind, gains_of(seed), graded), 0, atol=1e-9)
        known = replace(any_belief(seed), draws=any_belief(seed).draws[[3] * 40])
        np.testing.assert_allclose(information(known, gains_of(seed), graded), 0, atol=1e-9)

    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 39))
    def test_of_who_never_errs_it_is_the_entropy_of_the_answer(self, for_a):
        logs = np.zeros((40, 6))
        logs[:for_a, 0] = 1.0
        p = for_a / 40
        # Better in the first error by 1, worse in the second by 2: only a large first weight says A.
        told = information(sharp(logs), np.array([[1.0, -2, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]))
        np.testing.assert_allclose(told, [-(p * np.log2(p) + (1 - p) * np.log2(1 - p)), 0], atol=1e-6)

    def test_more_lapses_leave_less_to_learn(self):
        gains = gains_of(1)
        told = [information(any_belief(1, response=replace(MODEL, lapse=lapse)), gains) for lapse in (0, 0.1, 0.5, 0.9)]
        assert (np.diff(told, axis=0) < 0).all()


class TestChoice:
    @settings(deadline=None, max_examples=60)
    @given(SEEDS, st.sampled_from(["order", "closeness"]), GRADED)
    def test_the_same_pair_whatever_the_order_and_the_sides(self, seed, goal, graded):
        belief, gains, targets = any_belief(seed, least=0.5), gains_of(seed), gains_of(seed + 7, 20)
        assume(information(belief, gains).max() > 0.05)  # else all of them tell the same: nothing
        chosen = best_pair(belief, asking(gains), goal, targets, graded)
        rng = np.random.default_rng(seed)
        mixed = rng.permutation(len(gains))
        assert mixed[best_pair(belief, asking(gains[mixed]), goal, targets, graded)] == chosen
        turned = gains * rng.choice([-1, 1], (len(gains), 1))
        assert best_pair(belief, asking(turned), goal, targets, graded) == chosen
        assert best_pair(belief, asking(gains), goal, -targets, graded) == chosen

    @settings(deadline=None, max_examples=40)
    @given(SEEDS, GRADED)
    def test_for_closeness_nearly_the_most_informative(self, seed, graded):
        belief, gains = any_belief(seed), gains_of(seed)
        told = information(belief, gains, graded)
        assert told[best_pair(belief, asking(gains), "closeness", gains, graded)] >= 0.94 * told.max()

    @pytest.mark.parametrize("seed", range(6))
    def test_of_more_pairs_than_are_looked_into_it_finds_nearly_the_most_informative(self, seed):
        belief, gains = any_belief(seed), gains_of(seed, 2000)
        told = information(belief, gains)
        assert told[best_pair(belief, asking(gains), "closeness", gains)] >= 0.94 * told.max()

    def test_of_pairs_that_tell_the_same_the_one_easier_to_read(self):
        logs = 1.5 * np.random.default_rng(3).standard_normal((80, 6))
        logs[:, 2:] = -60  # what nobody minds changes no answer
        plain = [1.0, -1, 0, 0, 0, 0]
        gains = np.array([[1.0, -1, 1, -1, 1, -1], plain, [1.0, -1, 1, 0, 0, 0]])
        targets = np.array([plain, [1.0, -2, 0, 0, 0, 0]])
        assert best_pair(sharp(logs), asking(gains), "order", targets) == 1

    @pytest.mark.parametrize("goal", ["order", "closeness"])
    def test_of_equal_pairs_the_first(self, goal):
        belief, gains = any_belief(2), gains_of(2)
        first = best_pair(belief, asking(gains), goal, gains)
        twice = np.concatenate([gains, gains])
        assert best_pair(belief, asking(twice), goal, gains) == first

    def test_for_an_order_it_asks_what_the_order_depends_on(self):
        logs = 1.2 * np.random.default_rng(4).standard_normal((200, 6))
        gains = np.array([[0, 0, 0, 0, 1.0, -1], [1.0, -1, 0, 0, 0, 0], [0, 0, 1.0, -1, 0, 0]])
        for wanted, place in enumerate([4, 0, 2]):
            targets = np.zeros((5, 6))
            targets[:, place], targets[:, place + 1] = 1.0, -np.array([0.6, 0.8, 1.0, 1.3, 1.7])
            assert best_pair(sharp(logs), asking(gains), "order", targets) == wanted

    def test_for_closeness_it_asks_what_moves_the_estimate_among_the_most_informative(self):
        logs = np.zeros((200, 6))
        rng = np.random.default_rng(5)
        logs[:, [0, 1]] = 0.8 * rng.choice([-1, 1], (200, 2))
        logs[:, [4, 5]] = logs[:, [0, 1]][rng.permutation(200)] - 6  # small weights hardly move the estimate
        large, small, dull = [1.0, -1.01, 0, 0, 0, 0], [0, 0, 0, 0, 1.0, -1.01], [1.0, -9, 0, 0, 0, 0]
        belief = sharp(logs)
        told = information(belief, np.array([large, small, dull]))
        assert told[0] == pytest.approx(told[1])
        assert told[0] > 2 * told[2]
        assert best_pair(belief, asking(np.array([dull, small, large])), "closeness", np.array([large])) == 2
