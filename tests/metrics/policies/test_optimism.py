"""The cheapest of several policies seems cheaper than it is: by how much, and when that is told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import ElicitedMetric, judge
from metrics.policies.information import optimism

METRIC = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 5], [1, 0]])


# the expected maximum of so many standard normal numbers
@pytest.mark.parametrize(("p", "lucky"), [(2, 0.5642), (3, 0.8463), (8, 1.4236)])
def test_of_policies_that_are_equally_good_it_is_all_that_chance_brings(p, lucky):
    rng = np.random.default_rng(p)
    estimates = 100 + rng.standard_normal((1_500, p))
    said = [optimism(one, one + rng.standard_normal((200, p))) for one in estimates]
    assert np.mean(said) == pytest.approx(lucky, rel=0.05)


@given(st.integers(0, 1_000), st.floats(0.1, 50.0))
@settings(max_examples=20, deadline=None)
def test_it_scales_with_the_costs_and_does_not_depend_on_the_order(seed, scale):
    rng = np.random.default_rng(seed)
    estimate = rng.standard_normal(4)
    draws = estimate + rng.standard_normal((50, 4))
    order = rng.permutation(4)
    said = optimism(estimate, draws)
    assert optimism(estimate[order], draws[:, order]) == pytest.approx(said)
    assert optimism(scale * estimate, scale * draws) == pytest.approx(scale * said)


def test_a_policy_far_ahead_was_not_chosen_for_its_luck():
    rng = np.random.default_rng(0)
    estimate = np.array([10.0, 60.0, 70.0])
    centred = rng.standard_normal((2_000, 3))
    assert optimism(estimate, estimate + centred - centred.mean(axis=0)) == pytest.approx(0, abs=1e-9)


def of_alike_models(n_models, n_cases):
    """Return the judgement of models with equally much noise, and what the first really costs per population."""
    rng = np.random.default_rng(7)
    true = np.repeat([0, 1], [n_cases // 4, n_cases - n_cases // 4])

    def proba(true):
        score = np.where(true == 0, 1.0, -1.0) + 1.3 * rng.standard_normal(len(true))
        shares = 1 / (1 + np.exp(-1.2 * score))
        return np.column_stack([shares, 1 - shares])

    given = {f"model {at}": proba(true) for at in range(n_models)}
    return judge(METRIC, np.array(["ill", "well"])[true], given, draws=1_000)


def test_it_is_told_of_many_models_on_few_cases_and_not_of_one_on_many():
    many, few = of_alike_models(12, 240), of_alike_models(1, 20_000)
    assert (
        "The cheapest of 38 seems cheaper than it is: for other cases, expect it to cost about "
        in many.recommendation.sureness
    )
    share = many.optimism / many.best.cost_per_population
    assert f"about {round(100 * share)} % more." in many.recommendation.sureness
    assert "seems cheaper" not in few.recommendation.sureness
    assert 0 <= few.optimism < 0.05 * few.best.cost_per_population


def test_without_draws_or_for_a_policy_without_a_model_nothing_is_said():
    said = [[0.6, 0.4]] * 40
    always = judge(METRIC, ["ill", "well"] * 20, {"m": said, "n": said}, draws=300)
    assert always.best.policy.model is None
    assert always.optimism == 0
    assert judge(METRIC, ["ill", "well"] * 20, {"m": [[0.9, 0.1], [0.2, 0.8]] * 20}, draws=0).optimism == 0
