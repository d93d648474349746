"""True metrics: their normalisation, their order, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.elicitation.utilities import Fraction
from elicit_app.experiments.people import Person
from elicit_app.experiments.truths import Metric, random_metric, stated_metric, with_ratio
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


def test_values_that_wobble_by_the_stated_log_ratio():
    rng = np.random.default_rng(0)
    metric = stated_metric((-1, -2, -3, -4, -5, -6), "lpm", 3)
    drawn = np.array([np.log(-metric.wobbled(0.6, rng).weights) for _ in range(3000)])
    ratios = drawn[:, 0] - drawn[:, 3]
    assert ratios.mean() == pytest.approx(np.log(1 / 4), abs=0.05)
    assert ratios.std() == pytest.approx(0.6, abs=0.03)


def test_a_stretched_metric_has_the_stated_ratio_and_the_same_order():
    rng = np.random.default_rng(0)
    for family in ("dlpm", "lpm"):
        metric = random_metric(family, THIRDS, rng)
        wide = with_ratio(metric, 1000.0)
        sizes = np.abs(wide.weights)
        assert sizes.max() / sizes.min() == pytest.approx(1000)
        assert np.array_equal(np.argsort(sizes), np.argsort(np.abs(metric.weights)))
    with pytest.raises(WrongOption, match="at least 1"):
        with_ratio(metric, 0.5)


def binary(missed: int, alarms: int) -> np.ndarray:
    return np.array([[400 - missed, missed], [alarms, 600 - alarms]]) / 1000


def person(text: str):
    metric = stated_metric((-2, -1), "lpm", 2)
    return Person.parse(text).values(metric, 1000)


def test_a_concave_person_feels_a_common_base_and_a_linear_one_does_not():
    # 1 : 2 at a power of .6: 100 missed feel like 100 * 2^(1/.6) = 317 alarms.
    concave, linear = person("concave:0.6"), person("linear")
    assert concave(binary(100, 0)) == pytest.approx(concave(binary(0, round(100 * 2 ** (1 / 0.6)))), rel=2e-3)
    assert linear(binary(100, 0)) == pytest.approx(linear(binary(0, 200)))
    for values, shifted in ((concave, True), (linear, False)):
        plain = values(binary(50, 0)) - values(binary(0, 100))
        based = values(binary(150, 0)) - values(binary(100, 100))
        assert (abs(based - plain) > 0.1 * abs(values(binary(50, 0)))) == shifted


def test_the_worst_class_decides_for_minimax():
    values = person("minimax")
    assert values(binary(100, 0)) < values(binary(99, 140)) < 0
    assert values(binary(40, 240)) == pytest.approx(values(binary(160, 240)))


def test_people_feel_shares_of_the_cases_that_they_are_shown():
    # Whole cases of a rare class need not be its exact share of all.
    rare = np.array([[1, 0], [3, 996]]) / 1000
    assert person("minimax")(np.diag([1, 999]) / 1000) == 0
    assert person("threshold:0.001")(rare) > -1


def test_beyond_the_threshold_of_the_gravest_class_nothing_else_matters():
    values = person("threshold:0.05")
    assert values(binary(21, 0)) < values(binary(20, 599))
    assert values(binary(22, 0)) < values(binary(21, 599))
    assert values(binary(10, 20)) == pytest.approx(values(binary(0, 40)))


def test_f1_is_the_mean_over_classes():
    from sklearn.metrics import f1_score

    truth = np.repeat([0, 1], [400, 600])
    named = np.repeat([0, 1, 0, 1], [370, 30, 80, 520])
    assert person("f1")(binary(30, 80)) == pytest.approx(f1_score(truth, named, average="macro"))


@pytest.mark.parametrize("text", ["linear", "concave:0.6", "minimax", "threshold:0.1", "f1"])
def test_every_person_wobbles_and_judges_many_matrices_at_once(text):
    values = person(text)
    matrices = np.array([binary(30, 80), binary(10, 200), binary(120, 5)])
    np.testing.assert_allclose(values(matrices), [values.utility(one) for one in matrices])
    np.testing.assert_allclose(values.wobbled(0.0, np.random.default_rng(0))(matrices), values(matrices))
    assert not np.allclose(values.wobbled(0.6, np.random.default_rng(0))(matrices), values(matrices))


@pytest.mark.parametrize("text", ["kind", "concave", "concave:2", "threshold:x", "linear:1"])
def test_people_who_are_none_are_wrong_usage(text):
    with pytest.raises(WrongOption, match="person"):
        Person.parse(text)
