"""Confusion matrices, error rates, costs and decisions."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn import metrics as sk

from metrics.measures.calibration import calibration_curve
from metrics.measures.confusion import (
    ConfusionCounts,
    ConfusionMatrix,
    balanced_error_rate,
    class_weighted_error_rate,
    confusion_matrix,
    error_rate,
    macro_f1,
)
from metrics.measures.costs import (
    DecisionCounts,
    ExpectedCost,
    LeastCost,
    cost_sensitive_decisions,
    expected_misclassification_cost,
    mean_cost,
    misclassification_cost,
)

# The example of COMPSCI 589, lecture 14.
Y, F, W = [0, 0, 0, 1, 2], [0, 1, 0, 1, 1], [1, 2, 5]
COSTS = [[0, 1, 4], [2, 0, 1], [8, 3, 0]]
P = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.5, 0.4]]


def test_values_of_the_lecture():
    assert error_rate(Y, F) == pytest.approx(0.4, abs=1e-9)
    assert balanced_error_rate(Y, F) == pytest.approx(0.4444444444, abs=1e-9)
    assert class_weighted_error_rate(Y, F, W) == pytest.approx(0.6, abs=1e-9)
    assert misclassification_cost(Y, F, COSTS) == pytest.approx(0.8, abs=1e-9)
    assert expected_misclassification_cost(Y, P, COSTS) == pytest.approx(1.1, abs=1e-9)


def test_rows_are_true_and_columns_are_predicted():
    assert confusion_matrix(["a", "a", "b"], ["b", "b", "b"]).tolist() == [[0, 2], [0, 1]]
    assert misclassification_cost([0], [1], [[0, 7], [1, 0]]) == 7
    assert expected_misclassification_cost([0], [[0.75, 0.25]], [[0, 8], [1, 0]]) == 2
    # A false negative (true 1, called 0) costs 9: call 1 from a probability of 0.1.
    costs = [[0, 1], [9, 0]]
    assert cost_sensitive_decisions([[0.89, 0.11], [0.91, 0.09]], costs).tolist() == [1, 0]


labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)
weights = st.lists(st.integers(0, 3), min_size=40, max_size=40).filter(lambda w: w[0] > 0)


@given(labels, weights, st.sampled_from([None, "true", "pred", "all"]), st.booleans())
def test_confusion_agrees_with_scikit_learn(pairs, weight, normalize, weighted):
    true, predicted = np.array(pairs).T
    assume(len(np.unique(pairs)) > 1)  # scikit-learn warns of a single label
    weight = weight[: len(pairs)] if weighted else None
    ours = confusion_matrix(true, predicted, sample_weight=weight, normalize=normalize)
    theirs = sk.confusion_matrix(true, predicted, sample_weight=weight, normalize=normalize)
    np.testing.assert_allclose(ours, theirs, atol=1e-15)
    assert ours.labels == tuple(np.unique(pairs).tolist())
    assert ours.dtype == (np.int64 if weight is None and normalize is None else np.float64)


@given(labels, weights)
def test_error_rates_agree_with_scikit_learn(pairs, weight):
    true, predicted = np.array(pairs).T
    weight = np.array(weight[: len(pairs)], dtype=float)
    assert error_rate(true, predicted, sample_weight=weight) == pytest.approx(
        1 - sk.accuracy_score(true, predicted, sample_weight=weight), abs=1e-12
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = balanced_error_rate(true, predicted)
        theirs = 1 - sk.balanced_accuracy_score(true, predicted)
    assert ours == pytest.approx(theirs, abs=1e-12)


@given(st.integers(2, 5), st.integers(0, 2**20))
def test_macro_f1_agrees_with_scikit_learn(k, seed):
    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(k), rng.integers(k, size=30)])
    predicted = rng.integers(k, size=len(true))
    counts = np.asarray(confusion_matrix(true, predicted, labels=range(k)))
    assert macro_f1(counts / len(true)) == pytest.approx(sk.f1_score(true, predicted, average="macro"))


@given(labels, weights)
def test_weights_are_repetitions(pairs, weight):
    true, predicted = np.array(pairs).T
    weight = np.array(weight[: len(pairs)])
    again = np.repeat(true, weight), np.repeat(predicted, weight)
    costs = np.arange(16).reshape(4, 4)
    assert misclassification_cost(true, predicted, costs, sample_weight=weight) == pytest.approx(
        misclassification_cost(*again, costs), abs=1e-12
    )
    assert error_rate(true, predicted, sample_weight=weight) == pytest.approx(error_rate(*again), abs=1e-12)
    kept = sorted({*again[0].tolist(), *again[1].tolist()})
    np.testing.assert_array_equal(
        confusion_matrix(true, predicted, sample_weight=weight, labels=range(4))[np.ix_(kept, kept)],
        confusion_matrix(*again),
    )


@given(labels, st.permutations(range(40)))
def test_row_order_does_not_matter(pairs, order):
    pairs = np.array(pairs)
    mixed = pairs[[i for i in order if i < len(pairs)]]
    np.testing.assert_array_equal(confusion_matrix(*pairs.T), confusion_matrix(*mixed.T))


@given(labels, st.permutations(range(4)))
def test_permuting_classes_permutes_the_matrix(pairs, order):
    true, predicted = np.array(pairs).T
    whole = confusion_matrix(true, predicted, labels=range(4))
    np.testing.assert_array_equal(confusion_matrix(true, predicted, labels=order), whole[np.ix_(order, order)])


def test_any_labels():
    assert confusion_matrix([-5, 10**12], [10**12, -5]).labels == (-5, 10**12)
    mixed = confusion_matrix(["1", "x"], [1, 1])
    assert mixed.labels == ("1", "x")
    assert mixed.tolist() == [[1, 0], [1, 0]]
    assert error_rate(["1", "x"], [1, 1]) == 0.5
    assert error_rate([True, False], [1, 1]) == 0.5
    assert class_weighted_error_rate(["b", "a"], ["a", "a"], {"a": 1, "b": 3}) == 0.75


def test_a_label_that_is_left_out_is_not_dropped_unseen():
    with pytest.raises(ValueError, match=r"^y_true, row 1: 2 is not one of the classes \(0, 1\)"):
        confusion_matrix([0, 2], [0, 1], labels=[0, 1])


def test_a_class_that_is_never_true_has_no_error_rate():
    with pytest.warns(UserWarning, match="left out of the mean: b"):
        assert balanced_error_rate(["a", "a"], ["a", "b"]) == 0.5


def test_one_case():
    assert confusion_matrix([3], [3]).tolist() == [[1]]
    assert error_rate([3], [4]) == 1


def test_normalize_is_checked():
    with pytest.raises(ValueError, match=r"^normalize: "):
        confusion_matrix([0], [0], normalize="rows")


def test_the_matrix_is_an_array_with_labels():
    matrix = confusion_matrix(["a", "b", "b"], ["a", "a", "b"])
    assert isinstance(matrix, np.ndarray)
    assert (matrix - matrix).labels == ("a", "b")
    assert isinstance(matrix / 2, ConfusionMatrix)
    assert type(matrix[0]) is np.ndarray
    assert type(matrix.sum(axis=0)) is np.ndarray
    assert isinstance(matrix.sum(), np.int64)
    assert isinstance(matrix[0, 0], np.int64)
    again = pickle.loads(pickle.dumps(matrix))
    assert again.labels == ("a", "b")
    np.testing.assert_array_equal(again, matrix)


probabilities = st.integers(0, 10_000).map(lambda seed: np.random.default_rng(seed))


@given(probabilities, st.integers(2, 7), st.integers(1, 60), st.booleans())
def test_expected_cost_is_the_mean_over_rows(rng, k, n, weighted):
    proba, y, costs = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n), rng.normal(size=(k, k))
    weight = rng.random(n) if weighted else None
    literal = np.average([proba[i] @ costs[y[i]] for i in range(n)], weights=weight)
    assert expected_misclassification_cost(y, proba, costs, sample_weight=weight) == pytest.approx(literal, abs=1e-12)


def test_many_classes_are_added_up_alike():
    rng = np.random.default_rng(3)
    k, n = 40, 500
    proba, y, costs, weight = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n), rng.random((k, k)), rng.random(n)
    assert expected_misclassification_cost(y, proba, costs) == pytest.approx(
        np.mean([proba[i] @ costs[y[i]] for i in range(n)]), abs=1e-12
    )
    assert expected_misclassification_cost(y, proba, costs, sample_weight=weight) == pytest.approx(
        np.average([proba[i] @ costs[y[i]] for i in range(n)], weights=weight), abs=1e-12
    )


def test_float32_is_added_up_in_double_precision():
    rng = np.random.default_rng(4)
    proba, y = rng.dirichlet(np.ones(3), 50_000).astype(np.float32), rng.integers(0, 3, 50_000)
    exact = np.mean([(proba[y == i].astype(float) @ np.array(COSTS)[i]).sum() / 50_000 for i in range(3)]) * 3
    assert expected_misclassification_cost(y, proba, COSTS) == pytest.approx(exact, abs=1e-12)


def test_one_sum_serves_every_cost_matrix():
    expected = ExpectedCost(3).update(Y, P)
    np.testing.assert_allclose(expected.matrix(), [[1.6, 1.0, 0.4], [0.2, 0.6, 0.2], [0.1, 0.5, 0.4]], atol=1e-15)
    assert expected.expected_cost(COSTS) == pytest.approx(1.1, abs=1e-12)
    assert expected.expected_cost(1 - np.eye(3)) == pytest.approx(1 - (1.6 + 0.6 + 0.4) / 5, abs=1e-12)
    with pytest.raises(ValueError, match=r"^cost_matrix: none was given"):
        expected.result()


@given(probabilities, st.integers(2, 6), st.integers(1, 40))
def test_decisions_cost_least(rng, k, n):
    proba, costs = rng.dirichlet(np.ones(k), n), rng.random((k, k))
    expected = proba @ costs
    chosen = cost_sensitive_decisions(proba, costs)
    np.testing.assert_allclose(expected[np.arange(n), chosen], expected.min(axis=1), atol=1e-12)
    np.testing.assert_array_equal(cost_sensitive_decisions(proba, 10 * costs + 3), chosen)


@given(probabilities, st.integers(2, 12))
def test_equal_costs_of_mistakes_decide_for_the_first_most_probable(rng, k):
    proba = rng.multinomial(6, np.ones(k) / k, size=50) / 6
    decided = cost_sensitive_decisions(proba, 1 - np.eye(k))
    np.testing.assert_array_equal(decided, np.argmax(proba, axis=1))
    truth = rng.integers(0, k, 50)
    by_argmax = DecisionCounts(k).update(truth, proba).result()
    np.testing.assert_array_equal(by_argmax, confusion_matrix(truth, decided, labels=range(k)))
    by_cost = DecisionCounts(k, LeastCost(1 - np.eye(k), k)).update(truth, proba).result()
    np.testing.assert_array_equal(by_cost, by_argmax)


def test_costs_that_differ_by_little_are_not_equal():
    costs = np.array([[0, 1], [1 + 1e-8, 0]])
    np.testing.assert_array_equal(cost_sensitive_decisions([[0.5, 0.5]], costs), [1])


def test_more_than_256_classes():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(300), 70)
    proba[5, 299] = 1
    proba[5, :299] = 0
    np.testing.assert_array_equal(cost_sensitive_decisions(proba, 1 - np.eye(300)), proba.argmax(axis=1))
    counts = DecisionCounts(300).update(proba.argmax(axis=1), proba).result()
    assert np.trace(counts) == counts.sum() == 70


def test_mean_cost_of_counts_and_rates():
    counts = confusion_matrix(Y, F)
    assert mean_cost(counts, COSTS) == pytest.approx(0.8)
    assert mean_cost(np.asarray(counts) / 5, COSTS) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([[0, 1], [1, 0], [1, 1]], "a square matrix"),
        ([[0]], "at least 2 x 2"),
        ([[0, np.nan], [1, 0]], r"entry \[0, 1\]: a finite number"),
        ([["x", 1], [1, 0]], "numbers were expected"),
        (np.zeros((2, 2)), "3 x 3 numbers were expected"),
    ],
)
def test_cost_matrices(costs, said):
    with pytest.raises(ValueError, match=rf"^cost_matrix.*{said}"):
        cost_sensitive_decisions(P, costs)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        ([1, 2], "y_true holds 3 different labels .* and class_weight has 2 weights"),
        ([1, -2, 1], "weights >= 0"),
        ([0, 0, 0], "not all of them zero"),
        ({0: 1, 1: 2}, "2 is not one of the classes"),
    ],
)
def test_class_weights(weight, said):
    with pytest.raises(ValueError, match=said):
        class_weighted_error_rate(Y, F, weight)


def test_counts_of_other_classes_are_not_merged():
    with pytest.raises(ValueError, match="different classes"):
        ConfusionCounts(2).merge(ConfusionCounts(3))
    with pytest.raises(TypeError, match="cannot take in"):
        ConfusionCounts(2).merge(DecisionCounts(2))


def test_results_draw_themselves():
    axes = Figure().subplots(1, 3)
    one, other = confusion_matrix(Y, F), confusion_matrix(Y, Y)
    assert one.plot(axes[0]) is axes[0]
    assert (other - one).plot(axes[1]) is axes[1]
    assert calibration_curve([0, 1, 1], [0.2, 0.6, 0.9]).plot(axes[2]) is axes[2]
    shown = [text.get_text() for text in axes[0].texts]
    assert any("2" in text for text in shown)


def test_a_transposed_matrix_is_no_confusion_matrix():
    matrix = confusion_matrix(["a", "b", "b"], ["a", "a", "b"])
    for turned in (matrix.T, matrix.transpose(), np.transpose(matrix)):
        assert type(turned) is np.ndarray
        assert turned.tolist() == [[1, 1], [0, 1]]


def test_matrices_of_different_classes_give_one_without_labels():
    one, other = confusion_matrix(["a", "b"], ["a", "a"]), confusion_matrix(["b", "c"], ["b", "b"])
    assert (one - other).labels is None
    assert (one - one).labels == (one / 2).labels == ("a", "b")


def test_rows_and_columns_that_may_have_moved_have_no_labels():
    matrix = confusion_matrix(["a", "a", "a", "b"], ["a", "b", "b", "b"])
    turned = (matrix.swapaxes(0, 1), matrix.take([1, 0], axis=0), np.roll(matrix, 1, axis=1))
    turned += (matrix.mT,) if hasattr(matrix, "mT") else ()  # from NumPy 2 on
    other = (matrix @ matrix, matrix.cumsum(axis=1))
    assert not any(getattr(changed, "labels", None) for changed in (*turned, *other))
    kept = (
        matrix.copy(),
        copy.copy(matrix),
        copy.deepcopy(matrix),
        matrix.astype(float),
        matrix + 1,
        matrix.clip(0, 1),
    )
    assert all(same.labels == ("a", "b") for same in kept)
