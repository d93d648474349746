"""Calibration curves and errors."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.measures.calibration import CalibrationBins, bin_indices, calibration_curve, expected_calibration_error


def literal_error(y, p, m, weight):
    """The lecture's bins one by one, in exact decimals where the data are."""
    total = 0.0
    for b in range(m):
        inside = (p >= b / m) & ((p < (b + 1) / m) | (b == m - 1))
        if weight[inside].sum() > 0:
            total += abs((weight * (y - p))[inside].sum())
    return total / weight.sum()


def test_the_last_bin_is_closed():
    assert expected_calibration_error([1, 0], [0.95, 1], n_bins=10) == pytest.approx(0.475, abs=1e-9)


def test_of_classes_that_share_the_largest_probability_the_first_is_judged():
    proba = [[0.4, 0.4, 0.2]] * 2 + [[0.1, 0.2, 0.7]]
    right_once = expected_calibration_error([0, 1, 2], proba)
    assert right_once.curve.prob_true.tolist() == [0.5, 1.0]
    assert right_once == pytest.approx((2 * 0.1 + 0.3) / 3, abs=1e-15)


def test_edges_are_exact_fractions():
    for m in (3, 6, 7, 10, 15, 100):
        edges = np.arange(m + 1) / m
        for kind in (np.float64, np.float32):
            at = edges.astype(kind)
            np.testing.assert_array_equal(bin_indices(at, m), [*range(m), m - 1])
            below = np.nextafter(at[1:], kind(0))
            np.testing.assert_array_equal(bin_indices(below, m), np.arange(m))


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 100), st.integers(1, 3)), min_size=1, max_size=60),
    st.integers(1, 20),
)
def test_a_literal_loop_over_bins_agrees(cases, m):
    y, p, weight = (np.array(column) for column in zip(*cases, strict=True))
    p = p / 100
    error = expected_calibration_error(y, p, n_bins=m, pos_label=True, sample_weight=weight)
    assert error == pytest.approx(literal_error(y, p, m, weight), abs=1e-12)
    again = expected_calibration_error(np.repeat(y, weight), np.repeat(p, weight), n_bins=m, pos_label=True)
    assert error == pytest.approx(float(again), abs=1e-12)
    curve = error.curve
    assert error == pytest.approx((curve.weight * np.abs(curve.prob_true - curve.prob_pred)).sum() / curve.weight.sum())


def test_labels_of_one_column_name_the_two_classes():
    y, p = ["sick", "well", "well"], [0.9, 0.2, 0.1]
    expected = expected_calibration_error([1, 0, 0], p)
    assert expected_calibration_error(y, p, labels=["well", "sick"]) == expected
    assert expected_calibration_error(y, p, labels=["sick", "well"], pos_label="sick") == expected
    assert expected_calibration_error(["well"], [0.2], labels=["well", "sick"]) == pytest.approx(0.2)
    with pytest.raises(ValueError, match="y_true, row 0: sick is not one of the classes"):
        expected_calibration_error(y, p, labels=["well", "ill"])
    with pytest.raises(ValueError, match="pos_label, row 0: ill is not one of the classes"):
        expected_calibration_error(y, p, labels=["well", "sick"], pos_label="ill")
    with pytest.raises(ValueError, match="one of two classes, found 3 labels"):
        expected_calibration_error(y, p, labels=["well", "sick", "ill"])


def test_the_curve():
    curve = calibration_curve(["no", "yes", "yes", "no"], [0.1, 0.15, 0.95, 0.12], n_bins=10)
    prob_true, prob_pred = curve
    np.testing.assert_allclose(prob_true, [1 / 3, 1])
    np.testing.assert_allclose(prob_pred, [0.37 / 3, 0.95])
    assert curve.weight.tolist() == [3, 1]
    np.testing.assert_allclose(curve.edges, [[0.1, 0.2], [0.9, 1.0]])
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_array_equal(again.edges, curve.edges)
    np.testing.assert_array_equal(again.prob_pred, prob_pred)


def test_which_label_is_positive():
    p = [0.9, 0.2]
    assert calibration_curve(["b", "a"], p).prob_true.tolist() == [0, 1]
    assert calibration_curve(["b", "a"], p, pos_label="a").prob_true.tolist() == [1, 0]
    assert calibration_curve([1, -1], p).prob_true.tolist() == [0, 1]
    assert calibration_curve([True, False], p, pos_label=False).prob_true.tolist() == [1, 0]
    assert calibration_curve([0, 0], p).prob_true.tolist() == [0, 0]
    assert calibration_curve([1, 1], p).prob_true.tolist() == [1, 1]
    assert calibration_curve(["a", "a"], p, pos_label="b").prob_true.tolist() == [0, 0]
    assert expected_calibration_error(["a", "a"], p, labels=["a", "b"]) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("y", "p", "options", "said"),
    [
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "y_true: two classes were expected, found 3: 0, 1, 2"),
        (["a"], [0.1], {}, "pos_label: y_true holds only 'a'"),
        (["a", "b"], [0.1, 0.2], {"pos_label": "c"}, "pos_label: 'c' is not one of the labels"),
        ([0, 1], [0.1, 1.2], {}, "y_prob, row 1: a probability in"),
        ([0, 1], [0.1], {}, "y_prob: 2 cases were expected"),
        ([0, 1], [0.1, 0.2], {"n_bins": 0}, "n_bins: 1 to 1000000 was expected"),
        ([0, 1], [[0.1, 0.9]] * 2, {"pos_label": 1}, "pos_label: it applies to one column"),
        ([0, 1], [[0.1, 0.9], [1.0]], {}, "different lengths"),
    ],
)
def test_what_is_refused(y, p, options, said):
    with pytest.raises(ValueError, match=said):
        expected_calibration_error(y, p, **options)


@given(st.integers(0, 999), st.integers(2, 5), st.integers(1, 40), st.integers(1, 15))
def test_several_classes(seed, k, n, m):
    rng = np.random.default_rng(seed)
    proba, y, weight = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n), rng.random(n) + 0.1
    error = expected_calibration_error(y, proba, n_bins=m, sample_weight=weight, labels=range(k))
    hit = (proba.argmax(axis=1) == y).astype(float)
    assert error == pytest.approx(literal_error(hit, proba.max(axis=1), m, weight), abs=1e-12)
    each = [literal_error((y == j).astype(float), proba[:, j], m, weight) for j in range(k)]
    np.testing.assert_allclose(error.per_class, each, atol=1e-12)


def test_single_classes_need_all_columns():
    with pytest.raises(AttributeError, match=r"^per_class: "):
        _ = expected_calibration_error([0, 1], [0.2, 0.8]).per_class


def test_classes_of_changed_probabilities_are_refused():
    y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    error = expected_calibration_error(y, proba)
    proba[0] = proba[0][::-1]
    with pytest.raises(ValueError, match="was changed since the error was taken"):
        _ = error.per_class


@pytest.mark.parametrize("labels", [["no", "yes"], ["0", "1"], [1, 2], [[True, False], [False, True]], [True, None]])
def test_labels_are_no_truth_values(labels):
    with pytest.raises(InputError, match=r"^positive"):
        CalibrationBins(5).update(labels, [0.2, 0.9])


@pytest.mark.parametrize(
    ("proba", "said"),
    [
        ([[0.5, 0.5], [0.9, 0.3]], r"y_prob, row 1: the probabilities add up to 1\.2"),
        ([[0.5, 0.5]], "y_prob: 2 cases were expected"),
        ([0.5, 1.2], r"y_prob, row 1: a probability in \[0, 1\] was expected"),
    ],
)
def test_an_error_calls_the_argument_by_its_name(proba, said):
    with pytest.raises(InputError, match=f"^{said}"):
        expected_calibration_error([0, 1], proba)
