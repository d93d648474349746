"""Files that cannot be used: what is wrong, where, and what to do about it, in words."""

import numpy as np
import polars as pl
import pytest

from elicit_app.problem import Problem
from elicit_app.study import create_study, read_predictions
from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.mapping import column_map

HEAD = "y_true,proba_a,proba_b\n"
GOOD = "a,0.75,0.25\nb,0.5,0.5\n"

TEXT_FAULTS = {
    "empty": ("", "The file is empty"),
    "blank line only": ("\n", "The file is empty"),
    "no rows": (HEAD, "There are no rows of data"),
    "one row": (HEAD + "a,0.75,0.25\n", "There is only one row"),
    "one class column": ("y_true,proba_a\na,1\na,1\n", "There is only one class, “a”"),
    "one true class": (HEAD + "a,1,0\na,0.5,0.5\n", "Every row has the true label “a”"),
    "row too long": (HEAD + GOOD + "b,0.5,0.5,0.1\n", "Row 3 has 4 fields, but the header names 3 columns"),
    "row too short": (HEAD + GOOD + "b,0.5\n", "Row 3 has 2 fields, but the header names 3 columns"),
    "line above": ("# by a tool\n" + HEAD + GOOD, "Its first line is “# by a tool”, but the next has 3 fields"),
    "only a label": (HEAD + GOOD + "b\n", "Row 3 has 1 field, but the header names 3 columns"),
    "no label": (HEAD + GOOD + ",0.5,0.5\n", "Row 3: y_true is empty"),
    "empty cell": (HEAD + GOOD + "b,,0.5\n", "Row 3: proba_a is empty"),
    "text in a cell": (HEAD + GOOD + "b,0.5,half\n", "Row 3: proba_b is “half”, not a number"),
    "decimal comma": (HEAD + GOOD + 'b,"0,5",0.5\n', "Row 3: proba_a is “0,5”, not a number"),
    "not a number": (HEAD + GOOD + "b,0.5,nan\n", "Row 3: proba_b is NaN, not a finite number"),
    "infinite": (HEAD + GOOD + "b,inf,0.5\n", "Row 3: proba_a is inf, not a finite number"),
    "negative": (HEAD + GOOD + "b,1.5,-0.5\n", "Row 3: proba_b is -0.5, below 0"),
    "a little below 0": (HEAD + GOOD + "b,1,-0.0005\n", "Row 3: proba_b is -0.0005, below 0"),
    "a little above 1": (HEAD + GOOD + "b,1.0005,0\n", "Row 3: proba_a is 1.0005, above 1"),
    "above one": (HEAD + GOOD + "b,50,0.5\n", "Row 3: proba_a is 50, above 1"),
    "sum": (HEAD + GOOD + "b,0.37,0.5\n", "Row 3: the probabilities add up to 0.87, not 1"),
    "several rows": (
        HEAD + GOOD + "b,0.4,0.5\nb,0.4,0.4\n",
        "Row 3: the probabilities add up to 0.9, not 1, and so in 1",
    ),
    "unknown label": (HEAD + GOOD + "SCC,0.5,0.5\n", "1 row has a true label that has no column: “SCC”"),
    "no label column": ("truth,proba_a,proba_b\na,1,0\n", "There is no column y_true"),
    "no probabilities": ("y_true,p_a,p_b\na,1,0\n", "There is no column proba_<class>"),
    "column twice": ("y_true,proba_a,proba_b,proba_a\na,1,0,1\n", "There are 2 columns for class “a”"),
    "label column twice": ("y_true,y_true,proba_a,proba_b\na,a,1,0\n", "There are 2 columns y_true"),
    "class without a name": ("y_true,proba_,proba_b\nb,1,0\n", "A column is called proba_ and names no class"),
    "line end in a quoted name": ('y_true,"proba_a\nx",proba_b\nb,0,1\n', "The name of a column has a line end in it"),
    "carriage return in a name": ('y_true,"proba_a\rx",proba_b\nb,0,1\n', "x” has a line end in it"),
    "lone carriage returns": ("y_true,proba_a,proba_b\ra,1,0\rb,0,1\r", "lone carriage return"),
    "open quotation mark": (HEAD + 'a,"0.5,0.5\nb,0.5,0.5\n', "Row 1 has 2 fields"),
}


def test_a_label_in_other_capitals_is_told_as_such(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text(HEAD + GOOD + "A,0.5,0.5\n")
    with pytest.raises(Problem, match=r"no column: “A” \(write every class in one way: “a”, not “A”"):
        read_predictions(path)


@pytest.mark.parametrize("name", TEXT_FAULTS)
def test_faults_of_text_are_told_with_their_place(tmp_path, name):
    content, expected = TEXT_FAULTS[name]
    path = tmp_path / "predictions.csv"
    path.write_bytes(content.encode())
    with pytest.raises(Problem) as caught:
        read_predictions(path)
    assert expected in caught.value.sentence
    assert caught.value.sentence.startswith("predictions.csv cannot be used: ")
    assert "\n" not in caught.value.sentence
    assert any(expected in finding.what for finding in caught.value.findings)
    assert all(finding.remedy for finding in caught.value.findings)


BINARY_FAULTS = {
    "latin-1": ("p.csv", (HEAD + "é,0.5,0.5\n").encode("latin-1"), "Line 2 is not UTF-8 text"),
    "latin-1 header": ("p.csv", "y_true,proba_é,proba_b\n".encode("latin-1"), "Line 1 is not UTF-8 text"),
    "late in the file": ("p.csv", HEAD.encode() + b"a,1,0\n" * 70_000 + b"\xff,1,0\n", "Line 70002 is not UTF-8"),
    "utf-16": ("p.csv", (HEAD + GOOD).encode("utf-16"), "UTF-16, not UTF-8"),
    "a power in the first name": ("p.csv", b"x^2,y_true,proba_a,proba_b\n1,a,1,0\n2,b,0,1\n", "begins with “x^”"),
    "a compressed file named csv": ("p.csv", b"x\x010pe", "not text, let alone CSV"),
    "junk named csv": ("p.csv", bytes(range(256)) * 20, "not text, let alone CSV"),
    "junk named parquet": ("p.parquet", bytes(range(256)) * 20, "It is not a Parquet file"),
    "empty parquet": ("p.parquet", b"", "It is not a Parquet file"),
    "junk named npz": ("p.npz", bytes(range(256)) * 20, "It is not an NPZ file"),
    "empty npz": ("p.npz", b"", "It is not an NPZ file"),
    "zip of nothing": ("p.npz", b"PK\x03\x04junk", "It is not an NPZ file"),
    "packed": (
        "p.csv.gz",
        b"\x1f\x8bjunk",
        "The ending “.gz” is not one of .csv, .tsv, .txt, .parquet, .pq and .npz (unpack it first)",
    ),
    "another ending": ("p.xlsx", b"PK\x03\x04junk", "The ending “.xlsx” is not one of"),
    "a session": ("s.session.jsonl", b"{}\n", "It is a session (choose the study"),
    "a metric file": ("s.metric.json", b"{}\n", "It is a metric file (choose the study"),
    "no ending": ("p", b"", "The ending “” is not one of"),
}


@pytest.mark.parametrize("name", BINARY_FAULTS)
def test_files_that_are_not_what_they_seem(tmp_path, name):
    file, content, expected = BINARY_FAULTS[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(Problem, match="cannot be used") as caught:
        read_predictions(tmp_path / file)
    assert expected in caught.value.sentence


def test_a_folder_and_a_missing_file(tmp_path):
    with pytest.raises(Problem, match="is a folder, not a predictions file"):
        read_predictions(tmp_path)
    with pytest.raises(Problem, match=r"There is no file .*nowhere\.csv"):
        read_predictions(tmp_path / "nowhere.csv")


def test_a_parquet_file_cut_anywhere_is_refused_in_words(tmp_path):
    path = tmp_path / "whole.parquet"
    pl.DataFrame({"y_true": ["a", "b"], "proba_a": [1.0, 0.0], "proba_b": [0.0, 1.0]}).write_parquet(path)
    content = path.read_bytes()
    cut = tmp_path / "cut.parquet"
    for length in range(0, len(content), 7):
        cut.write_bytes(content[:length])
        with pytest.raises(Problem, match="cut short or damaged"):
            read_predictions(cut)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"y_true": [0, 1]}, "There is no array y_proba"),
        ({"y_proba": [[1.0, 0.0]]}, "There is no array y_true"),
        ({"y_true": [[0], [1]], "y_proba": [[1.0, 0.0], [0.0, 1.0]]}, r"y_true has shape \(2, 1\)"),
        ({"y_true": [0, 1], "y_proba": [1.0, 0.0]}, r"y_proba has shape \(2,\)"),
        ({"y_true": [0, 1, 1], "y_proba": [[1.0, 0.0], [0.0, 1.0]]}, "y_true has 3 rows, y_proba has 2"),
        ({"y_true": [0, 1], "y_proba": [["1", "0"], ["0", "1"]]}, "not numbers"),
        ({"y_true": [0, 2], "y_proba": [[1.0, 0.0], [0.0, 1.0]]}, "1 row has a true label that has no column: “2”"),
        ({"y_true": [1, 2], "y_proba": [[1.0, 0.0], [0.0, 1.0]]}, "classes names the class of each column of y_proba"),
        ({"y_true": [0.5, 1], "y_proba": [[1.0, 0.0], [0.0, 1.0]]}, "“0.5”"),
        ({"y_true": [0, 1], "y_proba": [[1.0, 0.0], [0.0, 1.0]], "classes": ["a"]}, "but y_proba has 2 columns"),
        ({"y_true": ["a", "b"], "y_proba": [[1.0, 0.0], [0.0, 1.0]], "classes": ["a", "a"]}, "2 columns for class “a”"),
        (
            {"y_true": ["a", "b"], "y_proba": [[1.0, 0.0], [0.0, 1.0]], "classes": ["a\nx", "b"]},
            "x” has a line end in it",
        ),
        ({"y_true": [0, 1], "y_proba": [[1.0, 0.0], [np.nan, 1.0]]}, "Row 2: proba_0 is NaN"),
        ({"y_true": [0, 1], "y_proba": np.zeros((2, 0))}, "There is no column proba_<class>"),
        (
            {"y_true": [0, 1, 1], "proba": [[1.0, 0.0], [0.0, 1.0]]},
            "There is no array y_proba in it, only “y_true”, “proba”",
        ),
        (
            {"y_true": np.array(["2001-01-01", "2002-01-01"], "M8[D]"), "y_proba": [[1.0, 0.0]] * 2},
            "not numbers or labels",
        ),
        ({"y_true": np.array([{}, 1], dtype=object), "y_proba": [[1.0, 0.0]]}, "Python objects"),
    ],
)
def test_arrays_of_the_wrong_shape_or_type(tmp_path, arrays, expected):
    path = tmp_path / "p.npz"
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()}, allow_pickle=True)
    with pytest.raises(Problem, match=expected):
        read_predictions(path)


def test_columns_of_lists_are_told_apart_from_numbers(tmp_path):
    path = tmp_path / "p.parquet"
    pl.DataFrame({"y_true": ["a", "b"], "proba_a": [[1.0], [0.0]], "proba_b": [0.0, 1.0]}).write_parquet(path)
    with pytest.raises(Problem, match="Column proba_a holds list values, not numbers"):
        read_predictions(path)


def test_all_faults_are_found_at_once_and_the_same_fault_only_once(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(HEAD + GOOD + "SCC,0.5,0.5\n" * 37 + "b,0.37,0.5\nb,-1,2\n")
    with pytest.raises(Problem) as caught:
        read_predictions(path)
    assert [finding.what for finding in caught.value.findings] == [
        "Row 41: proba_a is -1, below 0",
        "Row 41: proba_b is 2, above 1",
        "Row 40: the probabilities add up to 0.87, not 1",
        "37 rows have a true label that has no column: “SCC”",
    ]
    assert "; 37 rows have a true label that has no column: “SCC” (" in caught.value.sentence  # no “and 1 more”


def test_rows_are_numbered_below_the_header_blank_lines_included(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(HEAD + GOOD + "\n\nb,0.37,0.5\n")
    with pytest.raises(Problem, match="Row 5: the probabilities"):
        read_predictions(path)


def test_row_numbers_go_on_over_batches(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(HEAD + GOOD * 50_000 + "b,0.37,0.5\n")
    with pytest.raises(Problem, match="Row 100001: the probabilities"):
        read_predictions(path)


def test_signs_that_steer_a_terminal_are_not_repeated(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(HEAD + GOOD + "\x1b[31mred,0.5,0.5\n")
    with pytest.raises(Problem) as caught:
        read_predictions(path)
    assert "\x1b" not in caught.value.sentence


@pytest.mark.parametrize("order", [("model", "reader"), ("reader", "model")])
def test_a_reader_who_is_unsure_is_told_of_with_a_way_out(tmp_path, order):
    path = tmp_path / "p.csv"
    path.write_text("y_true,model,reader\nill,ill,ill\nwell,well,unsure\nwell,ill,well\n")
    looked_at = read_first_rows(path)
    maps = [column_map(looked_at, truth="y_true", predicted=name) for name in order]
    assert [one.columns for one in looked_at.readers(maps[order.index("model")])] == [("reader",)]
    found = "Row 2: the predicted label “unsure”" if order[0] == "model" else "No case has the true class “unsure”"
    with pytest.raises(Problem, match=f"{found}.* where it stands for no answer, write the class") as caught:
        create_study(tmp_path / "s", [path, path], columns=maps)
    assert "column for" not in caught.value.sentence


def test_numbers_between_whole_ones_are_not_taken_for_labels(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,score\n" + "".join(f"{row % 3},{row % 3 + row / 100}\n" for row in range(80)))
    with pytest.raises(Problem, match=r"“score” holds numbers such as 1\.01, not labels"):
        column_map(read_first_rows(path), truth="y_true", predicted="score")
