import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metrics.measures.confusion import natural_frequencies


@st.composite
def matrices(draw):
    k = draw(st.integers(2, 6))
    counts = draw(arrays(np.int64, (k, k), elements=st.integers(0, 500)))
    counts[0, 0] += 1
    return counts


@given(matrices(), st.integers(1, 100_000))
def test_whole_cases_sum_to_the_population_and_stay_next_to_their_share(counts, population):
    shown = natural_frequencies(counts, population)
    assert shown.dtype == np.int64
    assert shown.sum() == population
    assert (shown >= 0).all()
    assert (shown[counts == 0] == 0).all()
    row_share = counts.sum(axis=1) / counts.sum() * population
    assert (np.abs(shown.sum(axis=1) - row_share) < 1).all()
    of_row = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) * shown.sum(axis=1, keepdims=True)
    assert (np.abs(shown - of_row) < 1).all()


@given(matrices(), st.integers(1, 10_000), st.randoms(use_true_random=False))
def test_matrices_of_one_prevalence_get_the_same_row_sums(counts, population, random):
    other = np.array([random.sample(list(row), len(row)) for row in counts])
    first, second = natural_frequencies(counts, population), natural_frequencies(other / other.sum(), population)
    np.testing.assert_array_equal(first.sum(axis=1), second.sum(axis=1))


@given(matrices())
def test_counts_out_of_their_own_total_come_back(counts):
    np.testing.assert_array_equal(natural_frequencies(counts / counts.sum(), int(counts.sum())), counts)


def test_ties_go_to_the_lower_index():
    np.testing.assert_array_equal(natural_frequencies([[1, 1], [1, 1]], 1), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(natural_frequencies([[1, 1], [1, 1]], 2), [[1, 0], [1, 0]])
    np.testing.assert_array_equal(
        natural_frequencies([[0.1, 0.1, 0.1], [0, 0.3, 0], [0.4, 0, 0]], 10).sum(1), [3, 3, 4]
    )
    np.testing.assert_array_equal(natural_frequencies(np.full((3, 3), 0.1), 100)[0], [12, 11, 11])


@pytest.mark.parametrize(
    ("matrix", "population", "words"),
    [
        ([[1, 2, 3], [4, 5, 6]], 10, "square"),
        ([[1, -1], [1, 1]], 10, "no negative"),
        ([[1, np.nan], [1, 1]], 10, "finite"),
        ([[0, 0], [0, 0]], 10, "no cases"),
        ([[1, 1], [1, 1]], 0, "1 to 1000000000000 was expected"),
        ([[1, 2], [3, 4]], 10**18, "1 to 1000000000000 was expected"),
    ],
)
def test_bad_input_is_said_in_words(matrix, population, words):
    with pytest.raises(ValueError, match=words):
        natural_frequencies(matrix, population)


def test_a_population_is_a_whole_number():
    with pytest.raises(TypeError, match="whole number"):
        natural_frequencies([[1, 1], [1, 1]], 10.5)


def test_the_largest_population_is_kept_to_the_case():
    assert natural_frequencies([[1, 2], [3, 1e6 / 7]], 10**12).sum() == 10**12
