"""The sphere against a literal linear programme, and the classifiers that can be run on it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from elicit_app.elicitation.cases import Cases
from elicit_app.elicitation.sphere import Sphere, direction, measure_sphere, quadrants
from elicit_app.problem import Problem


def literal_radius(eta: np.ndarray) -> float:
    """Algorithm 3 word by word: both directions of every axis, all columns of h(x, j)."""
    n, k = eta.shape
    zeta = eta.mean(axis=0)
    counted = np.zeros((k * k, n * k))
    for i in range(k):
        for j in range(k):
            counted[i * k + j, j::k] = eta[:, i] / n
    lengths = []
    for i in range(k):
        for j in range(k):
            if i == j:
                continue
            reached = []
            for sign in (1, -1):
                step = np.zeros((k, k))
                step[i, j], step[i, i] = sign, -sign
                rules = np.vstack([np.hstack([counted, -step.reshape(-1, 1)]), np.zeros((n, n * k + 1))])
                for x in range(n):
                    rules[k * k + x, x * k : (x + 1) * k] = 1
                wanted = np.append(np.repeat(zeta / k, k), np.ones(n))
                goal = np.append(np.zeros(n * k), -1)
                reached.append(-linprog(goal, A_eq=rules, b_eq=wanted, bounds=(0, None)).fun)
            lengths.append(min(reached))
    return float(np.sum(np.array(lengths) ** -2.0) ** -0.5)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_radius_is_that_of_the_literal_programme(seed, k):
    eta = np.random.default_rng(seed).dirichlet(np.ones(k), 25)
    assert measure_sphere(Cases.exact(eta)).radius == pytest.approx(literal_radius(eta), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "radius", "digits"),
    [("softmax-3", 0.0407, 4), ("softmax-4", 0.0161, 4), ("paper-3", 0.0055, 4), ("paper-4", 0.0013, 4)],
)
def test_known_radii(eta_of, name, radius, digits):
    assert round(measure_sphere(Cases.exact(eta_of(name, radius=True))).radius, digits) == radius


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_every_point_of_the_sphere_can_be_run(seed, k):
    rng = np.random.default_rng(seed)
    cases = Cases.plug_in(rng.dirichlet(np.ones(k), 40))
    sphere = measure_sphere(cases)
    a = rng.normal(size=k * k - k)
    a /= np.linalg.norm(a)
    h = sphere.classifier(a)
    assert h.min() > -1e-7
    np.testing.assert_allclose(h.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(cases.mass @ h, sphere.point(a), atol=1e-8)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_angles_in_the_quadrants_give_unit_vectors_of_errors_that_hurt(seed, k):
    rng = np.random.default_rng(seed)
    theta = np.array([rng.uniform(*interval) for interval in quadrants(k)])
    a = direction(theta)
    assert a.shape == (k * k - k,)
    assert np.linalg.norm(a) == pytest.approx(1)
    assert a.max() <= 1e-15
    # Word by word: a_i = prod_{j<i} sin(theta_j) cos(theta_i), the last one the product of all sines.
    literal = [np.prod(np.sin(theta[:i])) * np.cos(theta[i]) for i in range(len(theta))] + [np.prod(np.sin(theta))]
    np.testing.assert_allclose(a, literal, atol=1e-15)


def test_a_point_keeps_the_prevalence_and_lies_at_the_radius():
    sphere = Sphere.around([0.5, 0.3, 0.2], 0.02)
    a = direction([np.mean(interval) for interval in quadrants(3)])
    matrix = sphere.point(a)
    np.testing.assert_allclose(matrix.sum(axis=1), [0.5, 0.3, 0.2])
    errors = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose((matrix - sphere.centre)[errors], 0.02 * a, atol=1e-15)


def test_a_radius_beyond_the_feasible_is_refused():
    sphere = Sphere.around([0.5, 0.5], 0.02)
    assert sphere.with_radius(0.01).radius == 0.01
    for radius in (0.021, 0.0, -1.0, float("nan")):
        with pytest.raises(Problem, match=r"at most 0\.02"):
            sphere.with_radius(radius)


def test_probabilities_that_tell_nothing_leave_no_sphere():
    with pytest.raises(Problem, match="No sphere"):
        measure_sphere(Cases.plug_in(np.full((10, 3), 1 / 3)))
