"""True metrics: their normalisation, their order, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.procedures.pencil import Fraction
from elicit_app.experiments.truths import Metric, random_metric, stated_metric
from elicit_app.problem import WrongOption

THIRDS = np.full(3, 1 / 3)
seeds = st.integers(0, 10**6)


@given(seeds, st.sampled_from(["dlpm", "lpm", "dlfpm", "lfpm"]), st.booleans())
def test_random_metrics_are_normalised_and_prefer_fewer_errors(seed, family, sphere):
    metric = random_metric(family, THIRDS, np.random.default_rng(seed), on_the_sphere=sphere)
    if family.startswith("d"):
        assert metric.weights.min() >= 0
        assert metric.weights.sum() == pytest.approx(1)
    else:
        assert metric.weights.max() <= 0
        assert np.linalg.norm(metric.weights) == pytest.approx(1)
    rng = np.random.default_rng(seed + 1)
    matrix = rng.dirichlet(np.ones(3), 3) / 3
    for i in range(3):
        for j in range(3):
            if i != j:
                worse = matrix.copy()
                moved = 0.5 * worse[i, i]
                worse[i, i] -= moved
                worse[i, j] += moved
                assert metric(worse) <= metric(matrix) + 1e-12
    assert np.abs(metric(np.array([matrix, worse]))).max() <= 1 + 1e-9


def test_many_matrices_at_once_give_what_each_gives_alone():
    rng = np.random.default_rng(0)
    matrices = rng.dirichlet(np.ones(3), (5, 3)) / 3
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.0])
    fraction = Fraction("dlfpm", p, 0.0, q, 0.4)
    metric = Metric.fractional(fraction, p)
    np.testing.assert_allclose(metric(matrices), [fraction(one) for one in matrices])
    linear = stated_metric((-1, -2, -3, -4, -5, -6), "lpm", 3)
    for matrix, value in zip(matrices, linear(matrices), strict=True):
        errors = matrix[~np.eye(3, dtype=bool)]
        assert value == pytest.approx(errors @ -np.arange(1, 7) / np.sqrt(91))
        assert linear.utility(matrix) == pytest.approx(value)


def test_stated_weights_are_normalised():
    np.testing.assert_allclose(stated_metric((0.58, 0.17, 0.08, 0.18), "dlpm", 4).weights.sum(), 1)


@pytest.mark.parametrize(
    ("weights", "family", "says"),
    [
        ((1.0, 2.0), "dlpm", "has 3 weights"),
        ((1.0, -2.0, 1.0), "dlpm", "wrong sign"),
        ((0.1,) * 6, "lpm", "wrong sign"),
        ((0.0, 0.0, 0.0), "dlpm", "weights"),
        ((0.2, 0.3, 0.5), "dlfpm", "leave --weights out"),
    ],
)
def test_wrong_weights_are_wrong_usage(weights, family, says):
    with pytest.raises(WrongOption, match=says):
        stated_metric(weights, family, 3)


def test_structured_truths_share_their_rows_and_columns():
    rng = np.random.default_rng(0)
    eye = ~np.eye(4, dtype=bool)
    within, between = [], []
    for _ in range(400):
        logs = np.zeros((4, 4))
        logs[eye] = np.log(-random_metric("lpm", np.full(4, 0.25), rng, kind="structured").weights)
        within.append(logs[0, 1] - logs[0, 2])
        between.append(logs[0, 1] - logs[2, 3])
    # Same row: 2 (.5^2 + .7^2) = 1.48; nothing in common: 2 (.7^2 + .5^2 + .7^2) = 2.46.
    assert np.var(within) == pytest.approx(1.48, rel=0.25)
    assert np.var(between) == pytest.approx(2.46, rel=0.25)
    with pytest.raises(WrongOption, match="family lpm"):
        random_metric("dlpm", THIRDS, rng, kind="structured")


def test_how_spread_truths_are():
    rng = np.random.default_rng(1)
    logs = np.array([np.log(-random_metric("lpm", THIRDS, rng).weights) for _ in range(400)])
    assert np.std(logs[:, 0] - logs[:, 1]) == pytest.approx(1.2 * np.sqrt(2), rel=0.15)
    halves = np.array([-random_metric("lpm", THIRDS, rng, on_the_sphere=True).weights for _ in range(2000)])
    np.testing.assert_allclose((halves**2).mean(axis=0), 1 / 6, atol=0.015)
