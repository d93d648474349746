"""How far experts agree on the order of the mistakes, in numbers and words."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from elicit_app.elicitation.orders import constraints_of, orders_by_distance
from elicit_app.elicitation.pooling import draws_before
from elicit_app.elicitation.prior import WeightPrior
from elicit_app.session.agreement import Agreement, agreement_of, kendall_w
from metrics import ElicitedMetric, Provenance


@pytest.mark.parametrize("seed", range(5))
def test_kendalls_w_takes_the_ranks_that_scipy_averages_over_ties(seed):
    scores = np.random.default_rng(seed).integers(0, 4, size=(3, 9)) / 3
    ranks = rankdata(scores, axis=1)
    ties = sum((np.unique(row, return_counts=True)[1] ** 3).sum() - 9 for row in ranks)
    spread = ((ranks.sum(axis=0) - 3 * 10 / 2) ** 2).sum()
    assert kendall_w(scores) == pytest.approx(12 * spread / (9 * (9**3 - 9) - 3 * ties))


@given(st.integers(0, 2**16), st.floats(0.01, 3.0))
def test_the_doubt_of_the_answers_leaves_agreement_at_most_as_high_as_that_of_the_estimates(seed, spread):
    rng = np.random.default_rng(seed)
    logs = rng.standard_normal((3, 1, 6)) + spread * rng.standard_normal((3, 200, 6))
    metrics = [
        ElicitedMetric.from_weights(["a", "b", "c"], -np.exp(np.median(own, axis=0)), "lpm", samples=-np.exp(own))
        for own in logs
    ]
    found = agreement_of(metrics)
    w, least, chance = (float(number) for number in re.findall(r"\d\.\d\d", found.sentence(["x"] * 6)))
    assert (w, least, chance) == (round(found.w, 2), round(min(found.w, found.least), 2), 0.33)
    drawn = kendall_w(np.exp(logs[[0, 1, 2], rng.integers(200, size=(400, 3))]))
    assert 0.85 < np.mean(drawn >= found.least) <= 1.0


@pytest.mark.parametrize("experts", [2, 3, 6])
def test_experts_who_rank_at_random_are_not_said_to_agree(experts):
    rng = np.random.default_rng(experts)
    found = []
    for _ in range(200):
        costs = rng.standard_normal((experts, 6))
        own = [ElicitedMetric.from_weights(["a", "b", "c"], -np.exp(row), "lpm") for row in costs]
        found.append(agreement_of(own))
        correlations = [spearmanr(one, other).statistic for one, other in combinations(costs, 2)]
        assert found[-1].correlation == pytest.approx(np.mean(correlations))
    by_chance = found[0].by_chance
    assert np.mean([one.w for one in found]) == pytest.approx(by_chance, abs=0.04)
    said = [one.sentence(["x"] * 6) for one in found]
    assert np.mean(["alike" not in one and "Mean order" in one for one in said]) > 0.8


@pytest.mark.parametrize("experts", [2, 4])
def test_experts_who_all_stated_an_order_are_not_said_to_agree_for_that(experts):
    stated = Provenance(parameters={"ordered": ["a", "b", "c"]})
    prior = WeightPrior.of("lpm", 3, "iid", constraints_of(orders_by_distance("abc"), "abc", "lpm"))
    logs = draws_before(prior)
    around = 0.5 * np.random.default_rng(1).standard_normal((30, 6))
    found = []
    for own in logs[: 40 * experts].reshape(40, experts, 6):
        metrics = [
            ElicitedMetric.from_weights(
                ["a", "b", "c"], -np.exp(row), "lpm", samples=-np.exp(prior.in_order(row + around)), provenance=stated
            )
            for row in own
        ]
        found.append(agreement_of(metrics))
    assert found[0].by_chance > 1 / experts + 0.15
    assert np.mean([one.w for one in found]) == pytest.approx(found[0].by_chance, abs=0.04)
    assert np.mean([one.correlation for one in found]) == pytest.approx(0, abs=0.1)
    assert "what was stated or expected beforehand, and chance, give 0." in found[0].sentence(["x"] * 6)


def test_an_order_is_called_shared_only_if_the_doubt_of_the_answers_leaves_it():
    alike = Agreement(0.95, 0.6, (0, 1, 2), 0.5)
    assert "rank the mistakes alike" in alike.sentence(["x"] * 3)
    assert "Shared order" in alike.sentence(["x"] * 3)
    assert "Mean order" in replace(alike, least=0.3).sentence(["x"] * 3)
    assert "roughly alike" in replace(alike, w=0.8).sentence(["x"] * 3)
    assert "in opposite orders" in replace(alike, w=0.2).sentence(["x"] * 3)


def test_experts_to_whom_all_mistakes_are_alike_do_not_rank_them_differently():
    alike = [ElicitedMetric.from_cost_matrix(["a", "b", "c"], cost * (1 - np.eye(3))) for cost in (1, 2)]
    assert np.isnan(agreement_of(alike).w)
    assert agreement_of(alike).sentence(["x"] * 6) == ""


def test_the_order_that_experts_share_begins_with_the_worst_mistake():
    metrics = [ElicitedMetric.from_cost_matrix([*"abc"], [[0, worst, 1], [2, 0, 3], [4, 5, 0]]) for worst in (9, 8)]
    assert agreement_of(metrics).ranking == (0, 5, 4, 3, 2, 1)
