"""What labels mean, and what is said where they mean nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from metrics import ElicitedMetric, negative_log_likelihood
from metrics.inputs.class_index import ClassIndex, column_classes
from metrics.inputs.labels import distinct, label_array
from metrics.measures.confusion import confusion_matrix
from metrics.measures.costs import cost_sensitive_decisions, expected_misclassification_cost, misclassification_cost

COSTS = np.array([[0.0, 1, 4], [2, 0, 1], [8, 3, 0]])


def columns(y, k, labels=None):
    true = label_array(y, "y_true")
    classes = column_classes(k, labels, true)
    return classes.places(true, "y_true").tolist()


def test_integers_below_k_are_columns():
    assert columns([2, 0, 2], 3) == [2, 0, 2]
    assert columns([1], 3) == [1]
    assert columns([True, False], 2) == [1, 0]
    assert columns([2.0, 0.0], 3) == [2, 0]
    assert columns(np.array([2, 0], dtype=np.uint8), 3) == [2, 0]
    assert columns(np.array([2, 0], dtype=np.float16), 3) == [2, 0]


def test_k_other_values_name_the_columns_sorted():
    assert columns([1, 2, 3, 1], 3) == [0, 1, 2, 0]
    assert columns([-1, 1], 2) == [0, 1]
    assert columns(["b", "c", "a"], 3) == [1, 2, 0]
    assert columns([0.5, 1.5], 2) == [0, 1]
    assert columns(np.array(["2021", "2020"], dtype="datetime64[Y]"), 2) == [1, 0]


@pytest.mark.parametrize("y", [["a", "b"], [1, 3], [0, 1, 7, 9]])
def test_anything_else_asks_for_labels(y):
    with pytest.raises(ValueError, match=r"^labels: y_true holds"):
        columns(y, 3)


def test_passed_labels_name_the_columns_in_their_order():
    assert columns(["a", "c"], 3, labels=["c", "b", "a"]) == [2, 0]
    assert columns([10, 30], 3, labels=[30, 20, 10]) == [2, 0]
    assert columns([1.5, 0.5], 3, labels=[0.5, 1.5, 2.5]) == [1, 0]


def test_text_and_numbers_meet_as_text():
    assert columns([2.0, 1.0], 2, labels=["1", "2"]) == [1, 0]
    assert columns(["2", "1"], 2, labels=[1, 2]) == [1, 0]
    assert columns(["a", 1], 2, labels=[1, "a"]) == [1, 0]


@pytest.mark.parametrize(
    "y",
    [
        ["dog", "cat", "dog"],
        np.array(["dog", "cat", "dog"]),
        np.array(["dog", "cat", "dog"], dtype=object),
        pd.Series(["dog", "cat", "dog"]),
        pd.Series(["dog", "cat", "dog"], dtype="category"),
        pl.Series(["dog", "cat", "dog"]),
        ("dog", "cat", "dog"),
    ],
)
def test_containers_of_text(y):
    assert columns(y, 2) == [1, 0, 1]


def test_nullable_integers():
    assert columns(pd.Series([2, 0], dtype="Int64"), 3) == [2, 0]
    with pytest.raises(ValueError, match=r"^y_true, row 1: .* missing"):
        columns(pd.Series([2, None], dtype="Int64"), 3)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_label_is_named(missing):
    with pytest.raises(ValueError, match=r"^y_true, row 2: .* missing"):
        columns(["a", "b", missing], 2)


def test_a_missing_number_is_named():
    with pytest.raises(ValueError, match=r"^y_true, row 1: .* missing"):
        columns([1.0, np.nan], 2)


@pytest.mark.parametrize(("y", "word"), [([], "at least one"), ([[0, 1], [1, 0]], "shape"), ([[0], [1, 2]], "lengths")])
def test_shapes_are_refused(y, word):
    with pytest.raises(ValueError, match=rf"^y_true: .*{word}"):
        columns(y, 2)


def test_an_unknown_label_is_named_with_its_row():
    with pytest.raises(ValueError, match=r"^y_true, row 1: horse is not one of the classes \(cat, dog\)"):
        columns(["cat", "horse"], 2, labels=["cat", "dog"])
    with pytest.raises(ValueError, match=r"^y_pred, row 2: 3 is not one of the classes \(0, 1, 2\)"):
        misclassification_cost([0, 1, 2], [0, 1, 3], COSTS)
    far = np.zeros(100_000, dtype=int)
    far[70_001] = 5
    with pytest.raises(ValueError, match=r"^y_pred, row 70001: 5 is not"):
        misclassification_cost(np.zeros(100_000, dtype=int), far, COSTS)


@pytest.mark.parametrize(("labels", "word"), [(["a", "a", "b"], "two classes"), (["a", "b"], "found 2 labels")])
def test_labels_that_do_not_fit(labels, word):
    with pytest.raises(ValueError, match=rf"^labels: .*{word}"):
        misclassification_cost(["a", "b"], ["b", "a"], COSTS, labels=labels)
    for one in ("abc", 3, np.int64(3)):
        with pytest.raises(TypeError, match=r"^labels: a sequence"):
            misclassification_cost(["a", "b"], ["b", "a"], COSTS, labels=one)
    with pytest.raises(ValueError, match="at least one label"):
        misclassification_cost(["a", "b"], ["b", "a"], COSTS, labels=[])


def test_dates_are_labels_and_a_missing_one_is_named():
    days = np.array(["2026-01-03", "2026-01-01", "2026-01-02"], "datetime64[D]")
    assert misclassification_cost(days, days, COSTS) == 0
    days[1] = "NaT"
    with pytest.raises(ValueError, match=r"^y_true, row 1: a label was expected, it is missing"):
        misclassification_cost(days, days, COSTS)


@pytest.mark.parametrize("kind", [">i8", ">i4", "i1", ">u2", "u8"])
def test_integers_of_every_width_and_byte_order(kind):
    y_true, y_pred = [0, 1, 2, 2], [0, 2, 2, 1]
    expected = confusion_matrix(y_true, y_pred)
    np.testing.assert_array_equal(confusion_matrix(np.array(y_true, kind), np.array(y_pred, kind)), expected)
    shifted = confusion_matrix(np.array(y_true, kind) + 100, np.array(y_pred, kind) + 100)
    np.testing.assert_array_equal(shifted, expected)
    assert shifted.labels == (100, 101, 102)


def test_decisions_are_elements_of_labels():
    proba = [[0.7, 0.2, 0.1], [0.1, 0.5, 0.4]]
    assert cost_sensitive_decisions(proba, 1 - np.eye(3)).tolist() == [0, 1]
    assert cost_sensitive_decisions(proba, 1 - np.eye(3), labels=["x", "y", "z"]).tolist() == ["x", "y"]
    assert cost_sensitive_decisions(proba, 1 - np.eye(3), labels=[1.0, "y", None is None]).tolist() == [1.0, "y"]
    assert cost_sensitive_decisions(proba, 1 - np.eye(3), labels=np.array([3, 1, 2])).dtype.kind == "i"


@given(st.permutations(["d", "c", "a", "b"]), st.lists(st.sampled_from("abcd"), min_size=1))
def test_indices_and_labels_are_inverse(labels, y):
    classes = ClassIndex(labels)
    assert classes.labels.take(classes.indices(label_array(y, "y"), "y")).tolist() == y


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=50))
def test_numbers_are_found_whatever_their_range(y):
    values = label_array(y, "y")
    classes = ClassIndex(distinct(values))
    assert classes.labels.take(classes.indices(values, "y")).tolist() == y


@given(st.permutations(range(3)), st.data())
def test_permuting_the_columns_with_labels_changes_nothing(order, data):
    n = data.draw(st.integers(1, 12))
    seed = data.draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), n), rng.integers(0, 3, n)
    names = np.array(["red", "yellow", "green"])
    order = list(order)
    whole = expected_misclassification_cost(y, proba, COSTS)
    again = expected_misclassification_cost(names[y], proba[:, order], COSTS[np.ix_(order, order)], labels=names[order])
    assert again == pytest.approx(whole, abs=1e-12)


def test_a_masked_label_is_missing():
    with pytest.raises(ValueError, match=r"^y_true, row 1: a label was expected"):
        confusion_matrix(np.ma.array([0, 1, 1], mask=[0, 1, 0]), [0, 1, 1])
    assert confusion_matrix(np.ma.array([0, 1, 1]), [0, 1, 1]).tolist() == [[1, 0], [0, 2]]


def test_integers_of_any_size_are_labels():
    assert confusion_matrix([2**70, 1], [1, 1]).tolist() == [[1, 0], [1, 0]]
    great = np.array([2**63 + 1, 1], dtype=np.uint64)
    assert confusion_matrix(great, np.array([-1, 1]), labels=["-1", "1", str(2**63 + 1)]).tolist() == [
        [0, 0, 0],
        [0, 1, 0],
        [1, 0, 0],
    ]
    assert confusion_matrix(np.array([7, 2**40], dtype=np.uint64), np.array([-1, 7])).labels == (-1, 7, 2**40)
    assert confusion_matrix([1e30, 2.0], [2.0, 2.0]).tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("labels", [{"a", "b"}, 2, "ab"])
def test_labels_are_a_sequence(labels):
    with pytest.raises(TypeError, match=r"^labels: a sequence of labels was expected"):
        column_classes(2, labels, label_array(["a", "b"], "y_true"))


def test_weights_of_booleans_by_label():
    y, proba = [False, True, True], [[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]
    expected = negative_log_likelihood(y, proba, class_weight=[1, 2])
    stored = ElicitedMetric.from_cost_matrix(["False", "True"], [[0, 1], [2, 0]]).class_weight
    for weights in ({True: 2, False: 1}, {0: 1, 1: 2}, stored):
        assert negative_log_likelihood(y, proba, class_weight=weights) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: metrics.calibration_curve([0, 1], [0.1, 0.9], n_bins=2.5),
        lambda: metrics.release_matrix({0: [1]}, 0.5, 3),
        lambda: metrics.net_benefit([0, 1], [0.1, 0.9], threshold=[0.1, 0.2]),
        lambda: metrics.net_benefit([0, 1], [0.1, 0.9], threshold=np.complex128(0.5)),
        lambda: metrics.confusion_matrix([0, 1], [0, 1], labels="01"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_one_of_the_errors_of_the_library_too(wrong):
    for kind in (metrics.InputError, TypeError):
        with pytest.raises(kind):
            wrong()


def test_complex_numbers_are_no_labels():
    with pytest.raises(metrics.InputError, match="text, whole numbers or booleans, not complex"):
        label_array(np.array([0j, 1j]), "y_true")
