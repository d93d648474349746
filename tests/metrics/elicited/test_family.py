import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metrics.elicited.family import DLPM, LPM, family_of, linear_family
from metrics.elicited.release import release_factors, release_list

positive = st.floats(1e-6, 1e6)


@st.composite
def cost_matrices(draw, zeros=True):
    k = draw(st.integers(2, 6))
    entries = st.one_of(st.just(0.0), positive) if zeros else positive
    costs = draw(arrays(np.float64, (k, k), elements=entries))
    np.fill_diagonal(costs, 0.0)
    if not costs.any():
        costs[0, 1] = 1.0
    return costs


@st.composite
def rates_of_one_prevalence(draw, k):
    prevalence = draw(arrays(np.float64, k, elements=st.floats(0.05, 1)))
    prevalence /= prevalence.sum()

    def matrix():
        rows = draw(arrays(np.float64, (k, k), elements=st.floats(0.01, 1)))
        return rows / rows.sum(axis=1, keepdims=True) * prevalence[:, None]

    return matrix(), matrix()


@given(cost_matrices())
def test_lpm_weights_and_cost_matrix_are_inverse(costs):
    weights = LPM.weights(costs)
    assert (weights <= 0).all()
    assert np.linalg.norm(weights) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(LPM.costs(weights), costs / costs.max(), rtol=1e-12, atol=0)


@given(arrays(np.float64, st.integers(2, 8), elements=positive))
def test_dlpm_weights_and_cost_matrix_are_inverse(weights):
    costs = DLPM.costs(weights)
    assert costs.max() == 1
    assert not np.diag(costs).any()
    np.testing.assert_allclose(DLPM.weights(costs), weights / weights.sum(), rtol=1e-12)


@pytest.mark.parametrize("family", ["dlpm", "lpm"])
@given(data=st.data())
def test_costs_order_matrices_of_one_prevalence_as_the_weights_do(family, data):
    k = data.draw(st.integers(2, 4))
    n = k if family == "dlpm" else k * k - k
    raw = data.draw(arrays(np.float64, n, elements=st.floats(0.01, 10)))
    weights = family_of(family).normalise(raw if family == "dlpm" else -raw)
    first, second = data.draw(rates_of_one_prevalence(k))
    gain = (family_of(family).weight_matrix(weights) * (first - second)).sum()
    cost = (family_of(family).costs(weights) * (first - second)).sum()
    assert cost == pytest.approx(-gain / np.abs(weights).max(), abs=1e-12)


def test_rows_are_true_classes():
    weights = np.array([-1, -2, -3, -4, -5, -6.0])
    expected = np.array([[0, -1, -2], [-3, 0, -4], [-5, -6, 0]])
    np.testing.assert_array_equal(LPM.weight_matrix(weights), expected)
    np.testing.assert_allclose(LPM.costs(weights), -expected / 6)
    np.testing.assert_array_equal(DLPM.weight_matrix([0.2, 0.3, 0.5]), np.diag([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(DLPM.costs([0.2, 0.3, 0.5]), [[0, 0.4, 0.4], [0.6, 0, 0.6], [1, 1, 0]])


def test_class_weights():
    np.testing.assert_allclose(DLPM.class_weight([1, 2, 6]), [1 / 3, 2 / 3, 2])
    np.testing.assert_allclose(LPM.class_weight([-1, -2, -3, -4, -5, -6]), [0.5, 1, 1.5])


@given(cost_matrices())
def test_release_factors_keep_ratios_within_a_true_class(costs):
    factors = release_factors(costs)
    class_weight = LPM.class_weight(LPM.weights(costs))
    assert class_weight.mean() == pytest.approx(1)
    for i, row in enumerate(costs):
        if not row.any():
            assert (factors[i] == 1).all()
            assert class_weight[i] == 0
            continue
        off = np.arange(len(row)) != i
        assert factors[i].max() == 1
        np.testing.assert_allclose(factors[i, off] * row.max(), row[off], rtol=1e-12)
        assert class_weight[i] / class_weight.max() == pytest.approx(row.max() / costs.max(), rel=1e-12)


def test_a_row_of_zeros_has_factors_one_and_class_weight_zero():
    costs = np.array([[0, 4, 1], [0, 0, 0], [2, 1, 0.0]])
    np.testing.assert_array_equal(release_factors(costs), [[1, 1, 0.25], [1, 1, 1], [1, 0.5, 1]])
    np.testing.assert_allclose(LPM.class_weight(LPM.weights(costs)), [2, 0, 1])


def brute_force_release(values):
    """Try every subset of errors, not only splits of the sorted values."""
    best = ((1 - values) ** 2).sum()
    for bits in range(1, 2 ** len(values)):
        chosen = np.array([bool(bits >> b & 1) for b in range(len(values))])
        factor = values[chosen].mean()
        best = min(best, ((values[chosen] - factor) ** 2).sum() + ((1 - values[~chosen]) ** 2).sum())
    return np.sqrt(best / len(values))


@given(arrays(np.float64, 6, elements=st.floats(0, 1).map(lambda x: round(x, 2))))
def test_release_list_is_the_best_two_level_fit(values):
    factors = LPM.weight_matrix(values) + np.eye(3)
    releases, factor, error = release_list(factors)
    assert error == pytest.approx(brute_force_release(values), abs=1e-12)
    rebuilt = np.ones((3, 3))
    for true, *released in releases:
        rebuilt[true, released] = factor
    assert np.sqrt(((rebuilt - factors) ** 2).sum() / 6) == pytest.approx(error, abs=1e-12)


def test_release_list_of_a_two_level_matrix_is_that_list():
    factors = np.ones((3, 3))
    factors[0, [1, 2]] = factors[2, 0] = 0.4
    assert release_list(factors) == (((0, 1, 2), (2, 0)), pytest.approx(0.4), pytest.approx(0))
    assert release_list(np.ones((4, 4))) == ((), 1.0, 0.0)


@pytest.mark.parametrize("family", ["dlpm", "lpm"])
def test_stacks_of_weights_give_stacks(family):
    draws = np.abs(np.random.default_rng(0).normal(size=(5, 2, 6)))
    draws = draws if family == "dlpm" else -draws
    metric_family = family_of(family)
    assert metric_family.n_classes(6) == (6 if family == "dlpm" else 3)
    for function in (
        metric_family.normalise,
        metric_family.weight_matrix,
        metric_family.costs,
        metric_family.class_weight,
    ):
        stacked = function(draws)
        for i in range(5):
            np.testing.assert_allclose(stacked[i, 1], function(draws[i, 1]), rtol=1e-13)


def test_extreme_scales_do_not_overflow():
    np.testing.assert_allclose(LPM.normalise([-1e200, -1e-200]), [-1, 0], atol=1e-300)
    np.testing.assert_allclose(DLPM.normalise([1e308, 1e308]), [0.5, 0.5])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LPM.n_classes(3), "k\\^2 - k"),
        (lambda: DLPM.n_classes(1), "at least 2"),
        (lambda: family_of("lfpm"), "families dlpm and lpm"),
        (lambda: DLPM.normalise([1, -1]), "none is negative"),
        (lambda: LPM.normalise([-1, 1]), "none is positive"),
        (lambda: DLPM.normalise([0, 0]), "all are 0"),
        (lambda: DLPM.normalise([np.nan, 1]), "finite"),
        (lambda: DLPM.weights([[0, 1, 2], [1, 0, 1], [1, 1, 0]]), "row 0 holds different costs"),
        (lambda: LPM.weights([[0, 0], [0, 0]]), "every cost is 0"),
        (lambda: LPM.weights([[0, 1], [-1, 0]]), r"\[1, 0\]: a cost >= 0 was expected, found -1"),
        (lambda: release_factors([[1, 1], [1, 0]]), "diagonal must be 0"),
        (lambda: release_factors([[0, np.inf], [1, 0]]), r"\[0, 1\]: a finite number was expected, found inf"),
        (lambda: release_factors([[0, 1, 2], [1, 0, 2]]), "square"),
        (lambda: release_list([[1, 2], [1, 1]]), r"lie in \[0, 1\]"),
    ],
)
def test_bad_input_is_said_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@given(st.sampled_from([DLPM, LPM]), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_the_views_of_a_family_agree(family, k, seed):
    rng = np.random.default_rng(seed)
    mistakes = family.mistakes(k)
    assert len(mistakes) == family.n_weights(k)
    assert family.n_classes(len(mistakes)) == k
    values = rng.uniform(0.1, 1, len(mistakes))
    on_errors = family.on_errors(values)
    np.testing.assert_array_equal(family.of_errors(on_errors), values)
    for place, (key, value) in enumerate(zip(mistakes, values, strict=True)):
        assert on_errors[family.cell(key)] == value
        assert family.mistake_at(*family.cell(key)) == key
        assert family.index(*key, k) == place
    matrix = rng.uniform(size=(4, k, k))
    utility = (family.weight_matrix(values) * matrix).sum(axis=(-2, -1))
    np.testing.assert_allclose(family.coordinates(matrix) @ values, utility, rtol=1e-12)
    assert not np.diagonal(on_errors).any()


def test_quotients_have_the_coordinates_of_their_linear_parts():
    assert linear_family("dlfpm") is linear_family("dlpm") is DLPM
    assert linear_family("lfpm") is linear_family("lpm") is LPM
    with pytest.raises(ValueError, match="'f1'"):
        linear_family("f1")


def test_costs_of_a_row_are_the_same_only_up_to_rounding():
    costs = np.array([[0, 1, 1 + 1e-12], [2, 0, 2], [1, 1, 0]])
    assert DLPM.weights(costs) == pytest.approx([0.25, 0.5, 0.25])
    costs[0, 2] = 1 + 1e-6
    with pytest.raises(ValueError, match="row 0 holds different costs"):
        DLPM.weights(costs)


def test_of_equal_fits_the_one_that_releases_least_is_taken():
    # Releasing the one factor of 0.25, or with it the three of 0.75, is off by the same: 3 * 0.25^2 = 0.1875.
    factors = np.array([[1, 0.25, 0.75], [0.75, 1, 0.75], [1, 1, 1]])
    assert release_list(factors)[:2] == (((0, 1),), 0.25)
