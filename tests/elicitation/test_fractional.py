"""Linear-fractional metrics: the check value, and the order of matrices."""

import numpy as np
import pytest

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.oracles import UtilityOracle, run
from elicit_app.elicitation.procedures.fractional import Dlfpm, Lfpm
from elicit_app.elicitation.sphere import Sphere, measure_sphere
from elicit_app.elicitation.utilities import Fraction, coordinates, numerator


def test_two_hyperplanes_give_the_numerator():
    p = numerator((0.97976, 0.20017), 0.53703, (-0.97130, -0.23786), -0.05914)
    np.testing.assert_allclose(p / p.sum(), (0.8, 0.2), atol=5e-5)


def test_coordinates_are_hits_or_errors_row_by_row():
    matrix = np.array([[0.1, 0.2, 0.3], [0.01, 0.02, 0.03], [0.11, 0.12, 0.11]])
    np.testing.assert_array_equal(coordinates(matrix, "dlfpm"), [0.1, 0.02, 0.11])
    np.testing.assert_array_equal(coordinates(matrix, "lfpm"), [0.2, 0.3, 0.01, 0.03, 0.11, 0.12])


def same_order(one: Fraction, other: Fraction, matrices: list) -> float:
    pairs = list(zip(matrices[::2], matrices[1::2], strict=True))
    return float(np.mean([(one(x) > one(y)) == (other(x) > other(y)) for x, y in pairs]))


@pytest.mark.parametrize("name", ["softmax-3", "softmax-4"])
def test_dlfpm_orders_achievable_matrices_as_the_expert_does(eta_of, name):
    cases, rng = Cases.exact(eta_of(name)), np.random.default_rng(4)
    k = cases.n_classes
    costs = np.exp(1.5 * rng.normal(size=(300, k, k))) * (1 - np.eye(k))
    matrices = [cases.least_cost(cost) for cost in costs]
    for _ in range(6):
        p = rng.dirichlet(np.ones(k))
        q = p * rng.uniform(0, 1, k)
        truth = Fraction("dlfpm", p, 0.0, q, float((p - q) @ cases.prevalence))
        full, asked = run(Dlfpm(cases, ask="all"), UtilityOracle(truth))
        needed, fewer = run(Dlfpm(cases), UtilityOracle(truth))
        finer, asked_once = run(Dlfpm(cases, ask="bisect"), UtilityOracle(truth))
        assert len(asked) == 2 * 4 * (k - 1) * 7
        assert 2 * len(fewer) <= len(asked)
        np.testing.assert_array_equal(full.weights, needed.weights)
        np.testing.assert_allclose(full.weights, p, atol=0.02)
        assert same_order(truth, full.utility, matrices) >= 0.98
        assert len(asked_once) == 2 * (k - 1) * 12
        assert same_order(truth, finer.utility, matrices) >= 0.99
        np.testing.assert_allclose(finer.weights, p, atol=0.003)


def test_dlfpm_of_a_linear_metric_is_that_metric(eta_of):
    cases = Cases.exact(eta_of("softmax-3"))
    p = np.array([0.2, 0.5, 0.3])
    truth = Fraction("dlfpm", p, 0.0, np.zeros(3), 1.0)
    outcome, _ = run(Dlfpm(cases), UtilityOracle(truth))
    np.testing.assert_allclose(outcome.weights, p, atol=0.01)


def test_dlfpm_says_what_the_frontier_cannot_tell(eta_of):
    cases = Cases.exact(eta_of("paper-3"))
    truth = Fraction("dlfpm", np.array([0.9, 0.05, 0.05]), 0.0, np.zeros(3), 1.0)
    outcome, _ = run(Dlfpm(cases), UtilityOracle(truth))
    assert outcome.stopped == "bounded"
    assert None not in outcome.bounded
    assert len(outcome.notes) == 2


def test_lfpm_orders_the_sphere_as_the_expert_does(eta_of):
    cases = Cases.exact(eta_of("softmax-3"))
    sphere = Sphere.around(cases.prevalence, measure_sphere(Cases.exact(eta_of("softmax-3", radius=True))).radius)
    rng = np.random.default_rng(8)
    below = -np.abs(rng.normal(size=(400, 6)))
    matrices = [sphere.point(a / np.linalg.norm(a)) for a in below]
    for _ in range(4):
        p = -np.abs(rng.normal(size=6))
        p /= np.linalg.norm(p)
        q = -p * rng.uniform(0, 1, 6)
        worst = (-p - q).reshape(3, 2).max(axis=1)
        truth = Fraction("lfpm", p, 0.0, q, float(worst @ cases.prevalence))
        outcome, asked = run(Lfpm(sphere, ask="all"), UtilityOracle(truth))
        assert len(asked) == 640
        assert outcome.stopped == "cycles"
        assert same_order(truth, outcome.utility, matrices) >= 0.97
        np.testing.assert_allclose(outcome.weights, p, atol=0.03)
        finer, again = run(Lfpm(sphere, ask="bisect"), UtilityOracle(truth))
        assert finer.stopped == "tolerance"
        assert len(again) <= 0.75 * len(run(Lfpm(sphere), UtilityOracle(truth))[1])
        np.testing.assert_allclose(finer.weights, p, atol=0.003)
