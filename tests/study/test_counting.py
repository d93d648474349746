"""Population, prevalence and yardstick of a study."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.study import Distribution, Predictions
from elicit_app.study.reading import POPULATIONS, confusion_rates, population_for, prevalence_of, yardstick_for
from metrics import natural_frequencies


@pytest.mark.parametrize(
    ("rarest", "population"),
    [(0.5, 100), (0.49, 1_000), (0.05, 1_000), (0.049, 10_000), (0.005, 10_000), (0.0049, 100_000), (1e-5, 100_000)],
)
def test_the_rarest_class_decides_the_population(rarest, population):
    assert population_for((rarest, 1 - rarest)) == population


@given(st.lists(st.integers(1, 1_000), min_size=2, max_size=8))
def test_the_population_is_the_smallest_that_shows_fifty_cases(cases):
    prevalence = np.array(cases) / sum(cases)
    population = population_for(prevalence)
    shown = {size: natural_frequencies(np.diag(prevalence), size).sum(axis=1).min() for size in POPULATIONS}
    assert shown[population] >= 50 or population == POPULATIONS[-1]
    assert all(shown[size] <= 50 for size in POPULATIONS if size < population)


def model(truth, decided, k):
    return Predictions("m", np.asarray(truth), np.eye(k)[decided])


def test_rows_are_true_classes():
    rates = confusion_rates(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)
    assert rates.tolist() == [[0.25, 0.25], [0, 0.5]]


def test_the_most_frequent_mistake_of_all_models_is_the_yardstick():
    one = model([0, 0, 0, 1, 1, 2], [0, 1, 1, 2, 1, 2], 3)
    two = model([0, 0, 0, 1, 1, 2], [0, 0, 0, 2, 2, 2], 3)
    assert yardstick_for([one], None) == (0, 1)
    assert yardstick_for([one, two], None) == (1, 2)


def test_models_without_mistakes_have_a_yardstick_too():
    assert yardstick_for([model([0, 1, 2], [0, 1, 2], 3)], None) == (0, 1)


def test_a_law_is_counted_by_its_means():
    distribution = Distribution(np.array([[0.6, 0.4], [0.9, 0.1]]))
    np.testing.assert_allclose(prevalence_of((), distribution, 2), [0.75, 0.25])
    assert yardstick_for((), distribution) == (1, 0)
