"""CSV, Parquet and NPZ give the same predictions; labels of every type are compared as text."""

import itertools
import string

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_app.problem import Problem
from elicit_app.study import read_predictions
from elicit_app.study.model import study_digest
from elicit_app.study.tables import in_batches
from metrics.inputs.labels import label_text

NAMES = st.text(string.ascii_letters + string.digits + " _-,\"'éßλ", min_size=1, max_size=8).map(str.strip)


@st.composite
def tables(draw):
    classes = draw(st.lists(NAMES.filter(bool), min_size=2, max_size=5, unique_by=label_text))
    rows = draw(st.integers(min_value=2, max_value=20))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    proba = generator.dirichlet(np.full(len(classes), 0.3), size=rows)
    truth = generator.integers(0, len(classes), rows)
    truth[:2] = 0, 1
    return [label_text(name) for name in classes], truth, proba


def write(path, classes, truth, proba):
    labels = np.asarray(classes)[truth]
    if path.suffix == ".npz":
        np.savez(path, y_true=labels, y_proba=proba, classes=np.asarray(classes))
        return path
    frame = pl.DataFrame({"y_true": labels, **{f"proba_{name}": proba[:, j] for j, name in enumerate(classes)}})
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 7))
def test_rows_are_cut_anew_without_loss(heights, size):
    rows = pl.DataFrame({"row": np.arange(sum(heights))})
    ends = np.cumsum([0, *heights])
    cut = list(in_batches((rows[a:b] for a, b in itertools.pairwise(ends)), size))
    assert [row for frame in cut for row in frame["row"]] == list(range(sum(heights)))
    assert all(frame.height == size for frame in cut[:-1])
    assert all(0 < frame.height <= size for frame in cut)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_every_format_gives_the_same_numbers_and_the_same_digest(tmp_path, table):
    classes, truth, proba = table
    digests = set()
    for ending in ("csv", "parquet", "npz"):
        read = read_predictions(write(tmp_path / f"p.{ending}", classes, truth, proba))
        assert list(read.classes) == classes
        np.testing.assert_array_equal(read.predictions.y_true, truth)
        np.testing.assert_array_equal(read.predictions.y_proba, proba)
        digests.add(study_digest(read.classes, [read.predictions]))
    assert len(digests) == 1


@given(st.integers(-10_000, 10_000))
def test_a_number_is_the_same_label_however_it_is_written(number):
    forms = [number, float(number), np.int8(number % 100) if 0 <= number < 100 else number, np.float32(number)]
    forms += [str(number), f"{number}.0", f" {number}. ", str(number).encode()]
    assert {label_text(form) for form in forms} == {str(number)}


def test_other_labels_stay_as_they_are():
    assert [label_text(value) for value in (True, "a b", 0.5, "1.5", "1e3", "01")] == [
        "True",
        "a b",
        "0.5",
        "1.5",
        "1e3",
        "01",
    ]


@pytest.mark.parametrize(
    "labels",
    [
        pl.Series([0, 1, 1]),
        pl.Series([0.0, 1.0, 1.0]),
        pl.Series(["0", "1", "1.0"]),
        pl.Series(["0", "1", "1"], dtype=pl.Categorical),
    ],
)
def test_labels_of_parquet_of_any_type(tmp_path, labels):
    path = tmp_path / "p.parquet"
    frame = pl.DataFrame({"y_true": labels, "proba_0": [1, 0, 0], "proba_1.0": pl.Series([0, 1, 1], dtype=pl.Int8)})
    frame.write_parquet(path)
    read = read_predictions(path)
    assert read.classes == ("0", "1")
    assert read.predictions.y_true.tolist() == [0, 1, 1]
    assert read.predictions.y_proba.dtype == np.float64


@pytest.mark.parametrize("names", [("False", "True"), ("TRUE", "FALSE"), ("true", "false")])
def test_booleans_are_read_however_a_program_writes_them(tmp_path, names):
    path = tmp_path / "m.csv"
    rows = "".join(f"{label},0.3,0.7\n" for label in ("true", "False", "TRUE", "false"))
    path.write_text(f"y_true,proba_{names[0]},proba_{names[1]}\n{rows}")
    read = read_predictions(path)
    assert read.classes == names
    assert [names[j].lower() for j in read.predictions.y_true] == ["true", "false", "true", "false"]


def test_booleans_name_their_columns(tmp_path):
    path = tmp_path / "p.parquet"
    pl.DataFrame({"y_true": [True, False], "proba_False": [0.2, 0.8], "proba_True": [0.8, 0.2]}).write_parquet(path)
    assert read_predictions(path).predictions.y_true.tolist() == [1, 0]


def test_what_spreadsheets_write_is_understood(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(
        "\ufeffid, y_true ,proba_a, proba_b,note\r\n1, a ,0.5, 5e-1,\r\n2,b,.25,\t0.75,x\r\n\r\n,,,,\r\n".encode()
    )
    read = read_predictions(path)
    assert read.classes == ("a", "b")
    assert read.predictions.y_true.tolist() == [0, 1]
    assert read.predictions.y_proba.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert read.predictions.name == "p"


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_separators_come_with_decimal_commas_or_points(tmp_path, mark):
    path = tmp_path / "excel.csv"
    rows = [("y_true", "proba_a", "proba_b", "score"), ("a", "0,75", ",25", "x,1"), ("b", "1e-1", "9,0e-1", "")]
    path.write_text("\ufeff" + "\r\n".join(mark.join(row) for row in rows), encoding="utf-8")
    read = read_predictions(path)
    np.testing.assert_allclose(read.predictions.y_proba, [[0.75, 0.25], [0.1, 0.9]])
    path.write_text("\n".join(mark.join(row) for row in (*rows, ("b", "1"))), encoding="utf-8")
    with pytest.raises(Problem, match="Row 3 has 2 fields, but the header names 4 columns"):
        read_predictions(path)


@pytest.mark.parametrize(("mark", "other"), [(";", ","), ("\t", ","), ("|", ";"), (",", ";")])
def test_a_class_name_may_contain_the_separator_of_other_files(tmp_path, mark, other):
    path, name = tmp_path / "p.csv", f"a{other} or{other} b"
    rows = [("y_true", f"proba_{name}", "proba_c"), (name, "0.75", "0.25"), ("c", "0.5", "0.5")]
    path.write_text("\n".join(mark.join(row) for row in rows), encoding="utf-8")
    read = read_predictions(path)
    assert read.classes == (name, "c")
    np.testing.assert_allclose(read.predictions.y_proba, [[0.75, 0.25], [0.5, 0.5]])


def test_a_line_that_names_the_separator_is_told(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("\ufeffsep=;\r\ny_true;proba_a;proba_b\r\na;0,75;0,25\r\n", encoding="utf-8")
    with pytest.raises(Problem, match="Its first line is “sep=;”, not the names of the columns"):
        read_predictions(path)


def test_npz_without_names_numbers_its_classes(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, y_true=np.array([0, 1, 2]), y_proba=np.eye(3, dtype=">f4"))
    assert read_predictions(path).classes == ("0", "1", "2")
    named = read_predictions(path, labels=("x", "y", "z"))
    assert named.classes == ("x", "y", "z")
    assert named.predictions.y_true.tolist() == [0, 1, 2]


def test_npz_may_tell_whose_case_each_row_is(tmp_path):
    path, proba = tmp_path / "p.npz", np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    for people in (np.array(["p", "q", "p"]), np.array([7, 5, 7])):
        np.savez(path, y_true=np.array([0, 1, 1]), y_proba=proba, patient_id=people)
        read = read_predictions(path)
        assert read.person_column == "patient_id"
        first, second, third = read.predictions.people
        assert first == third != second
    np.savez(path, y_true=np.array([0, 1, 1]), y_proba=proba, patient_id=np.array([1, 2]))
    with pytest.raises(Problem, match=r"patient_id has shape \(2,\), y_true has \(3,\)"):
        read_predictions(path)


def test_npz_indices_stand_for_names_that_are_no_numbers(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, y_true=np.array([1, 0]), y_proba=np.eye(2), classes=np.array(["x", "y"]))
    assert read_predictions(path).predictions.y_true.tolist() == [1, 0]


def test_columns_are_matched_to_classes_like_labels(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,proba_FALSE,proba_TRUE\nTRUE,0.1,0.9\nFALSE,0.8,0.2\n")
    read = read_predictions(path, labels=("True", "False"))
    assert (read.classes, read.predictions.y_true.tolist()) == (("True", "False"), [0, 1])
    assert read.predictions.y_proba.tolist() == [[0.9, 0.1], [0.2, 0.8]]
    path.write_text("y_true,proba_Gesu\u0308nd,proba_krank\nGes\u00fcnd,0.1,0.9\nkrank,0.8,0.2\n", encoding="utf-8")
    assert read_predictions(path, labels=("krank", "Ges\u00fcnd")).predictions.y_true.tolist() == [1, 0]
    path.write_text("y_true,proba_1,proba_0,proba_true\n1,0.1,0.8,0.1\n")
    with pytest.raises(Problem, match="a column for “true”"):
        read_predictions(path, labels=("1", "0"))


def test_labels_give_the_order_and_must_be_the_classes(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,proba_a,proba_b\na,0.9,0.1\nb,0.2,0.8\n")
    read = read_predictions(path, labels=("b", "a"))
    assert read.classes == ("b", "a")
    assert read.predictions.y_true.tolist() == [1, 0]
    assert read.predictions.y_proba.tolist() == [[0.1, 0.9], [0.8, 0.2]]
    with pytest.raises(Problem, match="no column for “c”, but a column for “a”"):
        read_predictions(path, labels=("b", "c"))
    with pytest.raises(Problem, match="name a class twice"):
        read_predictions(path, labels=("a", "a"))


def test_rounded_probabilities_are_accepted_and_the_far_ones_divided_by_their_sum(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,proba_a,proba_b\na,0.99,0\nb,0.51,0.5\nb,0.3333,0.6666\n")
    read = read_predictions(path)
    np.testing.assert_allclose(read.predictions.y_proba[:2], [[1, 0], [0.51 / 1.01, 0.5 / 1.01]], rtol=1e-12)
    assert read.predictions.y_proba[2].tolist() == [0.3333, 0.6666]
    assert read.notes == ("p.csv: 2 rows were divided by their sum, which was not 1 (0.99 to 1.01 is accepted).",)
    path.write_text("y_true,proba_a,proba_b\na,0.495,0.5\nb,0.5,0.5\n")
    np.testing.assert_allclose(read_predictions(path).predictions.y_proba.sum(axis=1), 1, rtol=1e-12)


def test_rounding_of_a_softmax_is_clipped(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,proba_a,proba_b\na,1.0000001,-0.0000001\nb,0.5,0.5\n")
    assert read_predictions(path).predictions.y_proba[0].tolist() == [1.0, 0.0]
