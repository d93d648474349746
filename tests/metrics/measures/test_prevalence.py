"""Cases as they would be at another prevalence."""

import numpy as np
import pytest

from metrics import negative_log_likelihood, prevalence_shift

TRUE = ["b", "a", "a", "a"]
PROBA = [[0.3, 0.7], [0.8, 0.2], [0.6, 0.4], [1.0, 0.0]]


def test_the_weighted_cases_have_the_stated_prevalence():
    shift = prevalence_shift(TRUE, PROBA, {"b": 3, "a": 1}, labels=["a", "b"])
    assert shift.sample_weight.tolist() == [3, 1 / 3, 1 / 3, 1 / 3]
    np.testing.assert_allclose(shift.y_proba[0], [0.3 / 3, 0.7 * 3] / (0.1 + np.array(2.1)))
    assert shift.y_proba[3].tolist() == [1, 0]


def test_their_own_prevalence_changes_nothing_and_a_shift_can_be_taken_back():
    own = prevalence_shift(TRUE, PROBA, [0.75, 0.25])
    np.testing.assert_allclose(own.y_proba, PROBA)
    np.testing.assert_allclose(own.sample_weight, 1)


def test_corrected_probabilities_are_better_where_the_law_is_known():
    # Among 1,000 cases with P(1 | x) = x the correction is Bayes' rule itself.
    rng = np.random.default_rng(3)
    x = rng.random(1_000)
    true, proba = (rng.random(1_000) < x).astype(int), np.stack([1 - x, x], axis=1)
    shift = prevalence_shift(true, proba, [0.95, 0.05])
    before = negative_log_likelihood(true, proba, sample_weight=shift.sample_weight)
    assert negative_log_likelihood(true, shift.y_proba, sample_weight=shift.sample_weight) < 0.5 * before


@pytest.mark.parametrize(
    ("prevalence", "said"),
    [
        ([0, 0], "prevalence: shares >= 0 were expected, not all of them zero"),
        ([1, 1, 1], "prevalence: 2 shares were expected"),
        ({"a": 1}, "prevalence: no share for the class 'b'"),
        ({"a": 1, "b": 1, "c": 1}, "prevalence, row 2: c is not one of the classes"),
    ],
)
def test_what_is_refused(prevalence, said):
    with pytest.raises(ValueError, match=said):
        prevalence_shift(TRUE, PROBA, prevalence, labels=["a", "b"])


def test_a_class_without_cases_cannot_become_more_frequent():
    with pytest.raises(ValueError, match="no case of 'b'"):
        prevalence_shift(["a", "a"], [[1, 0], [1, 0]], [0.5, 0.5], labels=["a", "b"])


@pytest.mark.parametrize("wrong", [[np.nan, 0.7], [-0.1, 1.1], [0.9, 0.7]])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match="y_proba, row 1: "):
        prevalence_shift(TRUE, [PROBA[0], wrong, *PROBA[2:]], [0.5, 0.5], labels=["a", "b"])
