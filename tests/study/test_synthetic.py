"""The synthetic studies are exactly the stated distributions."""

import numpy as np
import pytest
from scipy.special import ndtri

from elicit_app.study import open_study
from elicit_app.study.opening import LISTED


@pytest.mark.parametrize(
    ("name", "prevalence"), [("softmax-3", [0.2834, 0.3586, 0.3579]), ("softmax-4", [0.1798, 0.2735, 0.2725, 0.2743])]
)
def test_prevalence_of_the_softmax_laws(name, prevalence):
    np.testing.assert_allclose(open_study(name).distribution.eta.mean(axis=0), prevalence, atol=5e-5)


@pytest.mark.parametrize(("name", "slopes"), [("paper-3", (1, 3, 5)), ("paper-4", (1, 3, 6, 10))])
def test_the_laws_of_the_paper_on_midpoints(name, slopes):
    distribution = open_study(name).distribution
    assert distribution.eta.shape == (20_001, len(slopes))
    for row, x in ((0, -1 + 1 / 20_001), (10_000, 0.0), (20_000, 1 - 1 / 20_001)):
        raw = 1 / (1 + np.exp(np.array(slopes) * x))
        np.testing.assert_allclose(distribution.eta[row], raw / raw.sum(), rtol=1e-12)
    assert distribution.radius_points.shape == (201, len(slopes))
    raw = 1 / (1 + np.exp(-np.array(slopes, dtype=float)))
    np.testing.assert_allclose(distribution.radius_points[0], raw / raw.sum(), rtol=1e-12)


@pytest.mark.parametrize(("name", "k"), [("softmax-3", 3), ("softmax-4", 4)])
def test_the_softmax_laws_come_from_an_additive_recurrence(name, k):
    distribution = open_study(name).distribution
    d = k - 1
    g = next(root.real for root in np.roots([1, *[0] * (d - 1), -1, -1]) if root.real > 0 and abs(root.imag) < 1e-12)
    for n in (1, 2, 500, 4_096):
        x = ndtri((0.5 + n * g ** -np.arange(1.0, d + 1)) % 1)
        raw = np.exp(np.array([0, *2 * x]))
        np.testing.assert_allclose(distribution.eta[n - 1], raw / raw.sum(), rtol=1e-9)
    assert distribution.eta.shape == (4_096, k)
    np.testing.assert_array_equal(distribution.radius_points, distribution.eta[:512])


@pytest.mark.parametrize("name", LISTED)
def test_a_synthetic_study_is_a_law_without_models(name):
    study = open_study(name)
    assert (study.kind, study.models, study.name, study.population) == ("synthetic", (), name, 1_000)
    np.testing.assert_allclose(study.distribution.eta.sum(axis=1), 1)
    assert study.wording.mistakes[0, 1].name == "Class 1 called class 2"
    assert study.description.startswith(f"{study.n_classes} classes, {len(study.distribution.eta):,} points")
