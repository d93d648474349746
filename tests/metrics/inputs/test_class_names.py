import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.inputs.class_names import LabelledWeights, class_indices, class_name, class_names, indices_of


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (2.0, "2"),
        (np.float32(2), "2"),
        (2.5, "2.5"),
        (np.int8(3), "3"),
        (True, "True"),
        (b"\xc3\xa9", "é"),
        ("2.0", "2.0"),
    ],
)
def test_a_label_as_text(label, name):
    assert class_name(label) == name


@pytest.mark.parametrize(
    "values",
    [
        [1, 0, 2, 1],
        np.array([1, 0, 2, 1], dtype=np.uint8),
        [1.0, 0.0, 2.0, 1.0],
        ["1", "0", "2", "1"],
        np.array(["1", "0", "2", "1"], dtype=object),
        np.array([1, "0", 2.0, "1"], dtype=object),
        np.array([[1], [0], [2], [1]]),
        pd.Series([1, 0, 2, 1], index=[5, 6, 7, 8]),
        pd.Series(["1", "0", "2", "1"], dtype="category"),
        pd.Series(["1", "0", "2", "1"], dtype="string"),
        pl.Series([1, 0, 2, 1]),
        pl.Series(["1", "0", "2", "1"]),
    ],
)
def test_labels_of_any_type_meet_classes_as_text(values):
    np.testing.assert_array_equal(class_indices(values, ("2", "1", "0"), "y"), [1, 2, 0, 1])


@pytest.mark.parametrize(
    ("classes", "true", "false"),
    [
        (("False", "True"), 1, 0),
        (("1", "0"), 0, 1),
        (("false", "true"), 1, 0),
        (("TRUE", "FALSE"), 0, 1),
        (("1", "true", "True", "False", "0"), 2, 3),  # the name itself comes before any other reading
        (("1", "true", "FALSE", "0"), 1, 2),
    ],
)
@pytest.mark.parametrize("hold", [list, np.array, lambda labels: np.array(labels, dtype=object), pl.Series])
def test_booleans_stand_for_classes_that_read_so(classes, true, false, hold):
    np.testing.assert_array_equal(class_indices(hold([True, False]), classes, "y"), [true, false])
    np.testing.assert_array_equal(indices_of([np.False_, True], classes, "y"), [false, true])


def test_text_that_reads_true_is_no_number_and_two_spellings_are_none():
    for labels in (["True"], np.array(["True"], dtype=object)):
        with pytest.raises(ValueError, match="row 0 holds 'True'"):
            class_indices(labels, ("0", "1"), "y")
    with pytest.raises(ValueError, match="row 0 holds 'True'"):
        class_indices([True], ("true", "TRUE"), "y")
    with pytest.raises(ValueError, match="row 0 holds '1'"):
        class_indices([1], ("False", "True"), "y")


def test_weights_are_found_by_label():
    weights = LabelledWeights({"true": 2.0, "false": 1.0})
    assert [weights[label] for label in (True, np.False_, 1, 0, "true", 1.0)] == [2, 1, 2, 1, 2, 2]
    assert 2 not in weights
    assert "True" not in weights
    weights = LabelledWeights({"1": 2.0, "0": 1.0})
    assert [weights[label] for label in (True, False, 1, "0", 0.0)] == [2, 1, 2, 1, 1]
    weights = LabelledWeights({"true": 2.0, "false": 1.0, "unclear": 1.5})
    assert weights[True] == 2
    assert 1 not in weights  # nor does it stand for the second of three classes


def test_fractions_are_classes_too():
    np.testing.assert_array_equal(class_indices([0.5, 1.0], ("1", "0.5"), "y"), [1, 0])


@given(st.lists(st.one_of(st.integers(-50, 50), st.floats(-5, 5), st.text(max_size=3), st.booleans()), min_size=1))
def test_matching_is_matching_of_texts(labels):
    texts = [class_name(label) for label in labels]
    classes = tuple(dict.fromkeys([*texts, "x", "y"]))
    held = np.empty(len(labels), dtype=object)
    held[:] = labels
    assert [classes[i] for i in class_indices(held, classes, "y")] == texts


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float), min_size=1))
def test_arrays_of_numbers_match_like_their_texts(labels):
    texts = [class_name(label) for label in labels]
    classes = tuple(dict.fromkeys([*texts, "x"]))
    assert [classes[i] for i in class_indices(np.array(labels), classes, "y")] == texts


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0, 7, 1], "y: row 1 holds '7', which is no class of the metric"),
        (["a", "0"], "row 0 holds 'a'"),
        ([0.0, np.nan], "row 1: a label was expected, it is missing"),
        ([[0, 1], [1, 0]], r"one label per case was expected, the shape is \(2, 2\)"),
        ([None], "row 0: a label was expected, it is missing"),
    ],
)
def test_a_label_that_is_no_class_is_named(values, words):
    with pytest.raises(ValueError, match=words):
        class_indices(values, ("0", "1"), "y")


@pytest.mark.parametrize(
    ("labels", "words"),
    [(["a"], "at least two"), ([1, 1.0], "'1' stands for two"), (["a", " "], "class 1 has no name")],
)
def test_classes_have_different_names(labels, words):
    with pytest.raises(ValueError, match=words):
        class_names(labels)


def test_a_text_is_no_list_of_classes():
    for one in ("ab", 2, None):
        with pytest.raises(TypeError, match=f"a sequence of labels was expected, found {one!r}"):
            class_names(one)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["a", None], ["a", "None"]),
        (["a", np.nan], ["a", "nan"]),
        ([1.0, np.nan], ["1", "nan"]),
        (pd.Series([1, None], dtype="Int64"), ["1", "<NA>"]),
        (pl.Series(["a", None]), ["a", "None"]),
    ],
)
def test_a_missing_label_is_no_class_even_of_that_name(labels, classes):
    with pytest.raises(ValueError, match=r"^y, row 1: a label was expected, it is missing"):
        class_indices(labels, classes, "y")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, np.datetime64("NaT", "s"), " "])
def test_a_missing_class_is_named(missing):
    with pytest.raises(ValueError, match="class 1 has no name"):
        class_names(["a", missing])


def test_weights_are_found_by_labels_of_any_type():
    weights = LabelledWeights({"1": 0.5, 2: 1.5, "": 0.0})
    assert weights[1] == weights[1.0] == weights[np.int64(1)] == weights["1"] == 0.5
    assert weights["2"] == weights.get(2.0) == 1.5
    assert [label in weights for label in (1, "2", "", 3)] == [True, True, True, False]
    assert weights.get("3", 7) == 7
    with pytest.raises(KeyError):
        weights["3"]
    again = pickle.loads(pickle.dumps(weights))
    assert again == weights == copy.deepcopy(weights)
    assert again[1] == 0.5
