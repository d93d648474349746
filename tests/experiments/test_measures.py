"""Agreement, regret, errors and calibrated noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.questions import Choice, Question
from elicit_app.elicitation.sphere import Sphere
from elicit_app.experiments.measures import JudgedPairs, LowerBoundary, ModelDecisions, RowGroups, errors, least_costs
from elicit_app.experiments.people import Noise
from elicit_app.experiments.simulation import Experts
from elicit_app.experiments.truths import Metric, random_metric, stated_metric
from elicit_app.problem import Problem, WrongOption


def some_cases(seed: int, counted: bool, n: int = 200, k: int = 3) -> Cases:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.6), n)
    truth = np.append(np.arange(k), [rng.choice(k, p=row) for row in proba[k:]])
    return Cases.counted(truth, proba) if counted else Cases.plug_in(proba)


TRUTH = stated_metric((0.5, 0.3, 0.2), "dlpm", 3)
ACHIEVABLE = ModelDecisions([some_cases(0, True), some_cases(1, True)])
PAIRS = JudgedPairs.draw(TRUTH, ACHIEVABLE, np.random.default_rng(5))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.integers(2, 5))
def test_many_least_costs_are_the_single_ones(seed, counted, k):
    cases = some_cases(seed, counted, 90, k)
    costs = np.exp(np.random.default_rng(seed).normal(size=(7, k, k))) * (1 - np.eye(k))
    found = least_costs(cases, costs)
    for cost, matrix in zip(costs, found, strict=True):
        np.testing.assert_allclose(matrix, cases.least_cost(cost), atol=1e-13)
    if counted:
        np.testing.assert_array_equal(found, np.rint(found * 90) / 90)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_stretches_of_a_law_are_decided_like_its_rows(k):
    x = np.linspace(-1, 1, 2_003)[:, None]
    raw = 1 / (1 + np.exp(x * np.arange(1, k + 1) ** 2))
    cases = Cases.exact(raw / raw.sum(axis=1, keepdims=True))
    row_groups = RowGroups.of(cases)
    costs = np.exp(1.5 * np.random.default_rng(k).standard_normal((60, k, k))) * (1 - np.eye(k))
    np.testing.assert_allclose(row_groups.least_costs(costs), least_costs(cases, costs), atol=1e-12)


def test_rows_in_any_order_are_no_stretches():
    assert RowGroups.of(some_cases(3, False, 3_000)) is None


def test_achievable_matrices_of_the_sphere_lie_on_its_lower_boundary():
    sphere = Sphere.around([0.3, 0.3, 0.4], 0.02)
    for matrix in LowerBoundary(sphere).draw(50, np.random.default_rng(0)):
        moved = (matrix - sphere.centre)[~np.eye(3, dtype=bool)]
        assert moved.max() <= 0
        assert np.linalg.norm(moved) == pytest.approx(0.02)


def test_the_truth_agrees_with_itself_and_regrets_nothing():
    assert len(PAIRS.differences) == 2000
    assert (PAIRS.differences != 0).all()
    assert PAIRS.agreement(TRUTH) == 1
    assert PAIRS.regret(TRUTH, TRUTH) == 0


def test_the_opposite_metric_agrees_nowhere_and_regrets_everything():
    opposite = Metric.linear(-TRUTH.weights, "dlpm")
    assert PAIRS.agreement(opposite) == 0
    assert PAIRS.regret(TRUTH, opposite) == pytest.approx(1)


def test_an_elicited_tie_counts_one_half():
    assert PAIRS.agreement(Metric.linear(np.zeros(3), "dlpm")) == 0.5


def test_a_literal_count_of_agreement():
    other = stated_metric((0.2, 0.5, 0.3), "dlpm", 3)
    right = 0
    for first, second in zip(PAIRS.first, PAIRS.second, strict=True):
        hits = np.diagonal(first - second)
        right += (hits @ (0.5, 0.3, 0.2) > 0) == (hits @ (0.2, 0.5, 0.3) > 0)
    assert PAIRS.agreement(other) == pytest.approx(right / 2000, abs=0.002)


def test_models_that_leave_no_choice_cannot_be_judged():
    stuck = ModelDecisions([Cases.plug_in(np.array([[1.0, 0.0], [0.0, 1.0]]))])
    with pytest.raises(Problem, match="nothing to judge"):
        JudgedPairs.draw(stated_metric((0.5, 0.5), "dlpm", 2), stuck, np.random.default_rng(0), n=10)


def test_errors_are_norms():
    assert errors(TRUTH.weights, np.array([0.4, 0.4, 0.2])) == pytest.approx((0.2, np.sqrt(0.02), 0.1))


@pytest.mark.parametrize("accuracy", [0.6, 0.8, 0.95, 0.999])
def test_logistic_noise_is_calibrated_on_the_pairs(accuracy):
    sensitivity = PAIRS.sensitivity(accuracy)
    right = 1 / (1 + np.exp(-sensitivity * np.abs(PAIRS.differences)))
    assert right.mean() == pytest.approx(accuracy, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "right"), [("none", 1.0), ("flip:0.1", 0.9), ("logit:0.8", 0.8), ("bounded:0", 1.0), ("bounded:9", 0.5)]
)
def test_experts_are_right_as_often_as_said(text, right):
    oracle = Noise.parse(text).oracle(TRUTH, PAIRS, np.random.default_rng(2))
    chosen = [
        oracle.answer(Question(first, second)).choice
        for first, second in zip(PAIRS.first[:1500], PAIRS.second[:1500], strict=True)
    ]
    wanted = [Choice.FIRST if difference > 0 else Choice.SECOND for difference in PAIRS.differences[:1500]]
    assert np.mean([one is other for one, other in zip(chosen, wanted, strict=True)]) == pytest.approx(right, abs=0.03)


def test_votes_and_strength():
    experts = Experts(noise=Noise.parse("flip:0.2"), votes=5, strength=True)
    plain = experts.oracle(TRUTH, PAIRS, np.random.default_rng(2))
    answers = [
        plain.answer(Question(first, second))
        for first, second in zip(PAIRS.first[:500], PAIRS.second[:500], strict=True)
    ]
    wanted = [Choice.FIRST if difference > 0 else Choice.SECOND for difference in PAIRS.differences[:500]]
    assert np.mean([one.choice is other for one, other in zip(answers, wanted, strict=True)]) > 0.91
    clearly = np.mean([str(answer.strength) == "clearly" for answer in answers])
    assert clearly == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    "text",
    ["", "loud", "flip", "flip:", "flip:x", "flip:1.5", "logit:0.5", "logit:1", "bounded:-1", "bounded:inf", "none:1"],
)
def test_other_noise_is_wrong_usage(text):
    with pytest.raises(WrongOption, match="noise"):
        Noise.parse(text)


def test_fractional_metrics_can_be_judged_too():
    rng = np.random.default_rng(3)
    truth = random_metric("dlfpm", np.full(3, 1 / 3), rng)
    pairs = JudgedPairs.draw(truth, ACHIEVABLE, rng)
    assert pairs.agreement(truth) == 1
