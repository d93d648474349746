"""Population, prevalence and yardstick of a study."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.study import Distribution, Predictions
from elicit_app.study.making import with_defaults
from elicit_app.study.reading import POPULATIONS, population_for
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


def study_of(*models, distribution=None, k=3):
    return with_defaults(tuple("abc"[:k]), models, distribution, name="m", title="M", kind="folder")


def test_rows_are_true_classes():
    study = study_of(model([0, 0, 1, 1], [0, 1, 1, 1], 2), k=2)
    assert [counts.tolist() for counts in study.usual_counts] == [[[1, 1], [0, 2]]]


def test_the_most_frequent_mistake_of_all_models_is_the_yardstick():
    one = model([0, 0, 0, 1, 1, 2], [0, 1, 1, 2, 1, 2], 3)
    two = model([0, 0, 0, 1, 1, 2], [0, 0, 0, 2, 2, 2], 3)
    assert study_of(one).yardstick == (0, 1)
    assert study_of(one, two).yardstick == (1, 2)


def test_of_equally_frequent_mistakes_the_first_is_the_yardstick():
    truth = [0] * 5 + [1] * 5
    one = model(truth, [1, 1, 1, 0, 0, 0, 1, 1, 1, 1], 2)
    two = model(truth, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1], 2)  # as shares 0.1 + 0.2 would be more than 0.3
    assert study_of(one, two, k=2).yardstick == (0, 1)


def test_models_without_mistakes_have_a_yardstick_too():
    assert study_of(model([0, 1, 2], [0, 1, 2], 3)).yardstick == (0, 1)


def test_a_law_is_counted_by_its_means():
    distribution = Distribution(np.array([[0.6, 0.4], [0.9, 0.1]]))
    study = study_of(distribution=distribution, k=2)
    np.testing.assert_allclose(study.prevalence, [0.75, 0.25])
    assert study.yardstick == (1, 0)
    assert study.population == 1_000
