"""Which class a label means: one table over all entrances, and laws of the rule."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.problem import Problem
from elicit_app.study import read_predictions
from metrics import ElicitedMetric, InputError, confusion_matrix, cost_sensitive_decisions
from metrics.inputs.class_index import ClassIndex, LabelledWeights, class_names
from metrics.inputs.labels import label_text


def by_function(classes, labels, _folder):
    return [int(confusion_matrix([label], [label], labels=classes).diagonal().argmax()) for label in labels]


def by_score(classes, labels, _folder):
    metric = ElicitedMetric.from_cost_matrix(classes, 1 - np.eye(len(classes)))
    return [[metric.score([label], [each]) for each in metric.classes].index(0.0) for label in labels]


def by_columns(classes, labels, _folder):
    """Name the columns, and see for which truth certainty about each costs nothing."""
    metric = ElicitedMetric.from_cost_matrix(classes, 1 - np.eye(len(classes)))

    def cost(truth, column):
        return metric.expected_score([truth], np.eye(len(labels))[[column]], labels=labels)

    return [[cost(name, column) for name in metric.classes].index(0.0) for column in range(len(labels))]


def by_csv(classes, labels, folder):
    lines = ["y_true," + ",".join(f"proba_{name}" for name in classes)]
    lines += [f"{label}," + ",".join([repr(1 / len(classes))] * len(classes)) for label in labels]
    (folder / "p.csv").write_text("\n".join(lines), encoding="utf-8")
    return read(folder / "p.csv")


def by_parquet(classes, labels, folder):
    columns = {"y_true": list(labels)} | {f"proba_{name}": [1 / len(classes)] * len(labels) for name in classes}
    pl.DataFrame(columns, strict=False).write_parquet(folder / "p.parquet")
    return read(folder / "p.parquet")


def by_npz(classes, labels, folder):
    proba = np.full((len(labels), len(classes)), 1 / len(classes))
    np.savez(folder / "p.npz", y_true=np.array(labels), y_proba=proba, classes=np.array([*map(str, classes)]))
    return read(folder / "p.npz")


def read(path):
    return read_predictions(path).predictions.y_true.tolist()


ENTRANCES = [by_function, by_score, by_columns, by_csv, by_parquet, by_npz]


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    ("classes", "labels", "meant"),
    [
        (["cat", "dog"], ["dog", "cat"], [1, 0]),
        (["cat", "dog"], [" dog", "cat "], [1, 0]),
        (["2", "1", "0"], [1, 0, 2], [1, 2, 0]),
        (["2", "1", "0"], [1.0, 0.0], [1, 2]),
        (["2", "1", "0"], ["1.0", "0"], [1, 2]),
        (["2.0", "1.0"], [1, 2], [1, 0]),
        (["0.5", "1"], [0.5, 1.0], [0, 1]),
        (["-1", "1"], [-1, 1], [0, 1]),
        (["10", "30", "20"], [30, 10], [1, 0]),
        (["False", "True"], [True, False], [1, 0]),
        (["false", "true"], [True, False], [1, 0]),
        (["TRUE", "FALSE"], ["True", "false"], [0, 1]),
        (["1", "0"], [True, False], [0, 1]),
        (["1", "0"], ["true", "FALSE"], [0, 1]),
        (["False", "True"], [1, 0], [1, 0]),
        (["no", "false", "true"], [True, False], [2, 1]),
        (["1", "true", "FALSE", "0"], [True, False], [1, 2]),
        (["gesund", "Ges\u00fcnd", "krank"], ["Gesu\u0308nd", "krank"], [1, 2]),
        (["gesund", "Gesu\u0308nd", "krank"], ["Ges\u00fcnd", "krank"], [1, 2]),
    ],
)
def test_a_label_means_the_same_class_at_every_entrance(entrance, classes, labels, meant, tmp_path):
    assert entrance(classes, labels, tmp_path) == meant


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["cat", "dog"], ["dog", "Cat"]),
        (["cat", "dog"], ["dog", "horse"]),
        (["1", "2", "3"], [1, 4]),
        (["1", "2"], [1.0, 1.5]),
        (["true", "TRUE"], ["true", "True"]),
        (["no", "false", "true"], ["no", "1"]),
        (["\u1e69", "s\u0323\u0307", "s"], ["s", "s\u0307\u0323"]),
    ],
)
def test_what_means_no_class_is_refused_at_every_entrance(entrance, classes, labels, tmp_path):
    with pytest.raises((InputError, Problem), match=r"not one of the classes|has no column"):
        entrance(classes, labels, tmp_path)


def test_positions_stand_for_classes_only_where_these_have_no_names(tmp_path):
    proba = np.array([[0.25, 0.75], [0.5, 0.5]])
    np.savez(tmp_path / "plain.npz", y_true=[1, 0], y_proba=proba)
    np.savez(tmp_path / "named.npz", y_true=[1, 0], y_proba=proba, classes=["cat", "dog"])
    np.savez(tmp_path / "own.npz", y_true=[1, 2], y_proba=proba, classes=["2", "1"])
    assert [read(tmp_path / f"{name}.npz") for name in ("plain", "named", "own")] == [[1, 0], [1, 0], [1, 0]]
    assert confusion_matrix([1, 0], [1, 1]).tolist() == [[0, 1], [0, 1]]
    assert cost_sensitive_decisions(proba, 1 - np.eye(2)).tolist() == [1, 0]
    with pytest.raises(InputError, match="row 0: 1 is not one of the classes"):
        confusion_matrix([1, 0], [1, 1], labels=["cat", "dog"])
    with pytest.raises(InputError, match="row 0: 1 is not one of the classes"):
        ElicitedMetric.from_cost_matrix(["cat", "dog"], 1 - np.eye(2)).score([1, 0], [1, 1])


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (2.0, "2"),
        (np.float32(2), "2"),
        (2.5, "2.5"),
        (np.int8(3), "3"),
        (True, "True"),
        (b"\xc3\xa9", "é"),
        ("2.0", "2"),
    ],
)
def test_a_label_as_text(label, name):
    assert label_text(label) == name


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
    np.testing.assert_array_equal(ClassIndex(["2", "1", "0"]).indices(values, "y"), [1, 2, 0, 1])


def test_weights_are_found_by_label():
    weights = LabelledWeights({"true": 2.0, "false": 1.0})
    assert [weights[label] for label in (True, np.False_, 1, 0, "true", 1.0)] == [2, 1, 2, 1, 2, 2]
    assert weights["True"] == 2
    assert 2 not in weights
    weights = LabelledWeights({"1": 2.0, "0": 1.0})
    assert [weights[label] for label in (True, False, 1, "0", 0.0)] == [2, 1, 2, 1, 1]
    weights = LabelledWeights({"true": 2.0, "false": 1.0, "unclear": 1.5})
    assert weights[True] == 2
    assert 1 not in weights  # nor does it stand for the second of three classes


def test_fractions_are_classes_too():
    np.testing.assert_array_equal(ClassIndex(["1", "0.5"]).indices([0.5, 1.0], "y"), [1, 0])


@given(st.lists(st.one_of(st.integers(-50, 50), st.floats(-5, 5), st.text(max_size=3), st.booleans()), min_size=1))
def test_matching_is_matching_of_texts(labels):
    texts = [label_text(label) for label in labels]
    classes = [*dict.fromkeys([*texts, "x", "y"])]
    assert [classes[i] for i in ClassIndex(classes).indices_of(labels, "y")] == texts


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0, 7, 1], "y, row 1: 7 is not one of the classes"),
        (["a", "0"], "row 0: a is not one of the classes"),
        ([0.0, np.nan], "row 1: a label was expected, it is missing"),
        ([[0, 1], [1, 0]], r"one label per case was expected, .* \(2, 2\)"),
        ([None], "row 0: a label was expected, it is missing"),
    ],
)
def test_a_label_that_is_no_class_is_named(values, words):
    with pytest.raises(ValueError, match=words):
        ClassIndex(["0", "1"]).indices(values, "y")


@pytest.mark.parametrize(
    ("labels", "words"),
    [(["a"], "at least two"), ([1, 1.0], "'1' stands for two"), (["a", " "], "class 1 has no name")],
)
def test_classes_have_different_names(labels, words):
    with pytest.raises(ValueError, match=words):
        class_names(labels)
    metric = ElicitedMetric.from_cost_matrix(["ill", "well"], [[0, 4], [1, 0]])
    for use in (metric.with_labels, lambda labels: metric.decide([[0.5, 0.5]], labels=labels)):
        with pytest.raises(ValueError, match=f"^labels: .*{words}"):
            use(labels)


def test_a_text_is_no_list_of_classes():
    for one in ("ab", 2, None):
        with pytest.raises(TypeError, match=f"a sequence of labels was expected, found {one!r}"):
            class_names(one)


def test_a_set_has_no_order_and_a_generator_is_read_only_once():
    for one in ({"a", "b"}, frozenset("ab"), iter("ab")):
        with pytest.raises(TypeError, match="a sequence of labels was expected"):
            class_names(one)
    assert class_names({"a": 1, "b": 2}.keys()) == ("a", "b")


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
        ClassIndex(classes).indices(labels, "y")


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
