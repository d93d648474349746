"""Gaussian likelihood, coverage, and the measures that are scikit-learn's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import metrics
from metrics.measures.likelihood import (
    density_negative_log_likelihood,
    gaussian_negative_log_likelihood,
    interval_coverage,
)

Y, MEAN, STD = [1, 2, 3, 4], [1.1, 1.5, 3.5, 6], [0.5, 0.2, 0.4, 1]


def test_values_of_the_lecture():
    assert metrics.mean_squared_error(Y, MEAN) == pytest.approx(1.1275, abs=1e-9)
    assert metrics.root_mean_squared_error(Y, MEAN) == pytest.approx(1.06183802908, abs=1e-9)
    assert metrics.mean_absolute_error(Y, MEAN) == pytest.approx(0.775, abs=1e-9)
    assert metrics.r2_score(Y, MEAN) == pytest.approx(0.098, abs=1e-9)
    assert gaussian_negative_log_likelihood(Y, MEAN, STD) == pytest.approx(1.59578207699, abs=1e-9)
    assert interval_coverage(Y, MEAN, STD) == 0.5


@given(st.integers(0, 999), st.integers(1, 30), st.floats(0.05, 0.99))
def test_the_normal_distribution(seed, n, level):
    rng = np.random.default_rng(seed)
    y, mean, std = rng.normal(size=n), rng.normal(size=n), rng.random(n) + 0.1
    assert gaussian_negative_log_likelihood(y, mean, std) == pytest.approx(-norm.logpdf(y, mean, std).mean(), abs=1e-9)
    inside = np.abs(norm.cdf(y, mean, std) - 0.5) <= level / 2
    assert interval_coverage(y, mean, std, level=level) == pytest.approx(inside.mean())


def test_any_interval():
    assert interval_coverage([1, 2, 3], lower=[1, 2.5, 0], upper=[1, 4, 2]) == pytest.approx(1 / 3)
    assert interval_coverage([1, 2, 3], lower=-np.inf, upper=2) == pytest.approx(2 / 3)
    assert interval_coverage([1, 2, 3], 2, 0.5, level=0.9) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mean": MEAN, "std": [0.5, 0, 0.4, 1]}, "std, row 1: a standard deviation above 0"),
        ({"mean": MEAN, "std": STD, "level": 1.0}, "level: a number in"),
        ({"mean": MEAN}, "either mean and std, or lower and upper"),
        ({"mean": MEAN, "std": STD, "lower": MEAN}, "either mean and std, or lower and upper"),
        ({}, "either mean and std, or lower and upper"),
        ({"mean": [1.0], "std": STD}, "mean: 4 cases were expected"),
        ({"mean": [1, 2, np.nan, 3], "std": STD}, "mean, row 2: a finite number was expected, found nan"),
        ({"lower": [1, 1, 1, 1], "upper": [2, 2, 0, 2]}, "upper, row 2: at least the lower limit 1"),
        ({"lower": [1, np.nan, 1, 1], "upper": 2}, "lower, row 1: a limit was expected, it is missing"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        interval_coverage(Y, **options)


def test_no_cases():
    with pytest.raises(ValueError, match="at least one case"):
        gaussian_negative_log_likelihood([], [], [])


def test_any_distribution_of_scipy():
    from scipy import stats

    true, mean, std = [1, 2, 3, 4], [1.1, 1.5, 3.5, 6], [0.5, 0.2, 0.4, 1]
    normal = density_negative_log_likelihood(true, stats.norm(mean, std))
    assert normal == pytest.approx(gaussian_negative_log_likelihood(true, mean, std), abs=1e-12)
    assert density_negative_log_likelihood([0, 2], stats.poisson(mu=2)) == pytest.approx(2 - np.log(2) / 2)
    with pytest.raises(ValueError, match="y_true, row 1: 2 has the probability 0"):
        density_negative_log_likelihood([0.5, 2], stats.uniform())
    with pytest.raises(ValueError, match="a frozen distribution of scipy"):
        density_negative_log_likelihood([0.5, 2], 3.0)
    with pytest.raises(ValueError, match="its parameters do not go with 2 numbers"):
        density_negative_log_likelihood([0.5, 2], stats.norm([1, 2, 3]))
