"""The belief about fractions: what a pair stakes is linear in products, and what preferences tell comes out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.fractions import FractionPosterior, FractionPrior
from elicit_app.elicitation.oracles import UtilityOracle, run
from elicit_app.elicitation.prior import NeverWorse, WeightPrior
from elicit_app.elicitation.procedures.bayes import Bayes
from elicit_app.elicitation.questions import Purpose
from elicit_app.elicitation.response import ResponseModel
from elicit_app.elicitation.utilities import Fraction
from elicit_app.problem import Problem

PREVALENCE = np.array([0.5, 0.3, 0.2])


def matrices(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return matrices of one prevalence in which every class is more often right than not."""
    shares = 0.5 * np.eye(3) + 0.5 * rng.dirichlet(np.ones(3), (n, 3))
    return shares * PREVALENCE[:, None]


def belief_of(family: str, seed: int, n: int = 1) -> FractionPosterior:
    prior = FractionPrior.from_linear(WeightPrior.of("dlpm" if family == "dlfpm" else "lpm", 3))
    rng = np.random.default_rng(seed)
    return FractionPosterior.from_prior(prior, ResponseModel.of_ratios(), n, rng)


@pytest.mark.parametrize("family", ["dlfpm", "lfpm"])
@given(seed=st.integers(0, 2**32 - 1))
def test_products_judge_pairs_as_their_fraction_does(family, seed):
    belief = belief_of(family, seed)
    first, second = matrices(24, np.random.default_rng(seed)).reshape(2, 12, 3, 3)
    utility = belief.fraction(PREVALENCE)
    # With one draw the estimate is that draw.
    differences = np.array([utility(one) - utility(other) for one, other in zip(first, second, strict=True)])
    told = np.abs(differences) > 1e-9
    staked = (belief.prior.gain(first, second) @ belief.weights[0])[told]
    assert (np.sign(staked) == np.sign(differences[told])).all()
    valued = belief.utilities(np.concatenate([first, second]))[0].reshape(2, 12)
    assert (np.sign(valued[0] - valued[1])[told] == np.sign(differences[told])).all()


@pytest.mark.parametrize("family", ["dlfpm", "lfpm"])
def test_near_a_result_a_fraction_is_its_gradient(family):
    belief, middle = belief_of(family, 5), matrices(1, np.random.default_rng(6))[0]
    utility, near = belief.fraction(PREVALENCE), belief.near(middle)[0]
    slopes = []
    for i, j in ((0, 0), (1, 1), (2, 2)) if family == "dlfpm" else np.argwhere(~np.eye(3, dtype=bool)):
        step = np.zeros((3, 3))
        step[i, j] = 1e-6 if family == "dlfpm" else -1e-6
        slopes.append((utility(middle + step) - utility(middle - step)) / 2e-6)
    np.testing.assert_allclose(np.array(slopes) / max(slopes), near, rtol=1e-6)


@pytest.mark.parametrize("family", ["dlfpm", "lfpm"])
def test_no_mistake_is_good_however_bad_the_models_are(family):
    """Where one wrong answer is given more often than if all wrong ones were alike, the slope would change its sign."""
    poor = np.array([[0.05, 0.45, 0.0], [0.28, 0.02, 0.0], [0.0, 0.2, 0.0]])
    belief = belief_of(family, 7, n=200)
    assert (belief.near(poor) > 0).all()
    assert np.isfinite(belief.local_outcome("expert", 0, poor).weights).all()


def test_equal_weights_at_both_ends_are_a_linear_metric():
    prior = FractionPrior.from_linear(WeightPrior.of("lpm", 3))
    x = np.random.default_rng(2).standard_normal((1, 6))
    belief = FractionPosterior(prior, ResponseModel.of_ratios(), np.hstack([x, np.zeros((1, 14))]), 1.0)
    utility = belief.fraction(PREVALENCE)
    np.testing.assert_allclose(utility.q, 0.0, atol=1e-12)
    first, second = matrices(40, np.random.default_rng(3)).reshape(2, 20, 3, 3)
    linear = WeightPrior.of("lpm", 3)
    plain = linear.gain(first, second) @ np.exp(linear.log_weights(x[0]))
    np.testing.assert_array_equal(np.sign(prior.gain(first, second) @ belief.weights[0]), np.sign(plain))


def test_orders_say_nothing_of_a_fraction():
    with pytest.raises(Problem, match="Orders between mistakes apply to linear metrics only"):
        FractionPrior.from_linear(WeightPrior.of("lpm", 3, constraints=[NeverWorse((0, 1), (1, 0))]))


def test_bayes_finds_a_fraction_and_says_what_is_known_of_it(eta_of):
    cases = Cases.exact(eta_of("softmax-3"))
    p = np.array([0.2, 0.5, 0.3])
    truth = Fraction("dlfpm", p, 0.0, 0.9 * p * [1.0, 0.1, 0.6], 0.2)
    outcome, _ = run(Bayes([cases], family="dlfpm", seed=1, population=1000, answers="choice"), UtilityOracle(truth))
    assert outcome.family == "dlfpm"
    assert outcome.intervals is None
    assert "up to a multiple of that numerator" in outcome.notes[0]
    costs = np.exp(1.5 * np.random.default_rng(4).normal(size=(200, 3, 3))) * (1 - np.eye(3))
    decided = [cases.least_cost(cost) for cost in costs]
    pairs = list(zip(decided[::2], decided[1::2], strict=True))
    found = outcome.utility
    assert np.mean([(truth(a) > truth(b)) == (found(a) > found(b)) for a, b in pairs]) >= 0.93


@pytest.mark.parametrize("family", ["dlfpm", "lfpm"])
def test_who_is_asked_about_a_fraction_chooses_between_results_that_a_usable_model_could_have(eta_of, family):
    cases = [Cases.exact(eta_of("softmax-3"))]
    procedure = Bayes(cases, family=family, seed=1, population=1000, questions=3, checks=True, answers="choice")
    _, asked = run(procedure, UtilityOracle(lambda matrix: float(np.trace(matrix))))
    assert Purpose.CHECK in [question.purpose for question, _ in asked]
    for question, _ in asked:
        for side in question.rates:
            assert (2 * np.diagonal(side) >= side.sum(axis=1)).all(), question.purpose
        assert question.proposal is None, "a count that is moved changes both parts of a fraction"
        assert not question.common_base
