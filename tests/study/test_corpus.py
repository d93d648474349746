"""Damaged files, kept small: every one is read or refused in one sentence, soon, and none ends the program."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from elicit_app.problem import Problem
from elicit_app.session.journal.recovery import check_session, recover_session
from elicit_app.study import open_study, reading
from elicit_app.study.making import distinct_names
from elicit_app.study.reading import open_predictions, read_predictions
from elicit_app.study.tables import MOST_COLUMNS
from metrics import ElicitedMetric
from metrics.errors import InputError
from metrics.files import real_path

CORPUS = sorted((Path(__file__).parents[1] / "corpus").iterdir())
REFUSALS = (Problem, InputError)


def damage(path, folder):
    """Give a file to its reader; returns the sentence on it, an empty one where it could be read."""
    try:
        if path.name.endswith(".session.jsonl"):
            recover_session(path, folder / "new.session.jsonl")
            return check_session(path).damage
        (ElicitedMetric.load if path.suffix == ".json" else read_predictions)(path)
    except REFUSALS as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_damaged_file_is_one_sentence(path, tmp_path):
    said = damage(path, tmp_path)
    assert "\n" not in said
    # numpy reads what Python 2 wrote
    assert bool(said) == ("python-2" not in path.name)


def test_what_is_no_regular_file_is_refused_without_being_opened(tmp_path):
    loop = tmp_path / "loop.csv"
    try:
        loop.symlink_to(loop)
    except OSError:
        pytest.skip("no links here")
    with pytest.raises(Problem, match="cannot be read"):
        open_study(loop)
    assert distinct_names([loop, tmp_path / "other.csv"]) == ["loop", "other"]
    assert real_path(loop).name == "loop.csv"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        (tmp_path / "zero.npz").symlink_to("/dev/zero")
        for name in ("pipe.csv", "zero.npz"):
            with pytest.raises(Problem, match="is a pipe or a device, not a file"):
                open_study(tmp_path / name)
        os.mkfifo(tmp_path / "study.json")
        with pytest.raises(Problem, match="is a pipe or a device"):
            open_study(tmp_path)


def members(path, **contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(f"{name}.npy", content)


def array_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_arrays_that_promise_more_than_there_is(tmp_path):
    small = array_bytes(np.zeros((2, 2)))
    great = small.replace(b"(2, 2), }" + b" " * 12, b"(4000000000, 2), }   ")
    assert great != small
    members(tmp_path / "p.npz", y_true=array_bytes(np.zeros(2)), y_proba=great)
    with pytest.raises(Problem, match="array y_proba is cut short"):
        read_predictions(tmp_path / "p.npz")
    members(tmp_path / "p.npz", y_true=b"hello", y_proba=small)
    with pytest.raises(Problem, match="cut short or damaged"):
        read_predictions(tmp_path / "p.npz")


def test_limits_are_said_in_words(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("y_true," + ",".join(f"x{j}" for j in range(MOST_COLUMNS)) + "\n")
    with pytest.raises(Problem, match="has 10,001 columns, more than 10,000"):
        read_predictions(file)
    file.write_text("y_true," + "x" * (1 << 20) + "\n")
    with pytest.raises(Problem, match="first line is longer than 1 MiB"):
        read_predictions(file)
    long_name = "\N{CJK UNIFIED IDEOGRAPH-732B}" * 900
    file.write_text(f"y_true,proba_{long_name},proba_b\n{long_name},0.5,0.5\nb,0.5,0.5\n", encoding="utf-8")
    assert read_predictions(file).classes == (long_name, "b")
    file.write_text("y_true,proba_a,proba_b\n" + "a" * 2000 + ",0.5,0.5\nb,0.5,0.5\n")
    with pytest.raises(Problem, match="A true label is longer than 1,000 characters"):
        read_predictions(file)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a,0.5," + "x" * 1_001, "A cell of column proba_b is longer than 1,000 characters"),
        ("a,0.5,0." + "5" * 999, "A cell of column proba_b is longer than 1,000 characters"),
        ("a,0.5," + "," * (11 << 20), "Line 3 is longer than 10 MiB"),
    ],
)
def test_cells_and_lines_that_are_too_long_are_refused_before_they_are_looked_into(tmp_path, row, words):
    file = tmp_path / "p.csv"
    file.write_text(f"y_true,proba_a,proba_b\na,0.5,0.5\n{row}\nb,0.5,0.{'5' * 998}\n")
    with pytest.raises(Problem, match=words):
        read_predictions(file)


@pytest.mark.parametrize("k", [51, 100, 3000])
def test_more_classes_than_can_be_asked_about(tmp_path, k):
    file = tmp_path / "p.csv"
    header = "y_true," + ",".join(f"proba_c{j}" for j in range(k))
    file.write_text("\n".join([header, *(f"c{row}," + ",".join(["0"] * k) for row in range(2))]))
    with pytest.raises(Problem, match=f"It has {k:,} classes; at most 50 can be asked about"):
        open_study(file)


def test_fifty_classes_are_a_study(tmp_path):
    k = 50
    rows = [f"c{j}," + ",".join("1" if j == i else "0" for i in range(k)) for j in range(k)]
    header = "y_true," + ",".join(f"proba_c{j}" for j in range(k))
    (tmp_path / "p.csv").write_text("\n".join([header, *rows]))
    assert open_study(tmp_path / "p.csv").n_classes == k


def test_a_csv_that_is_not_utf8_below_a_short_row(tmp_path):
    (tmp_path / "p.csv").write_bytes(b"y_true,proba_a,proba_b\na,0.5\n\xff\xfe,0.5,0.5\n")
    with pytest.raises(Problem, match="cannot be used"):
        read_predictions(tmp_path / "p.csv")


def parquet_of(path, rows, **options):
    columns = {"y_true": np.where(np.arange(rows) % 2, "a", "b")}
    pl.DataFrame(columns | {"proba_a": np.full(rows, 0.5), "proba_b": np.full(rows, 0.5)}).write_parquet(
        path, **options
    )
    return path


def test_no_foreign_parquet_is_decoded_here(tmp_path, monkeypatch):
    path = parquet_of(tmp_path / "p.parquet", 100)
    monkeypatch.setattr(pl, "scan_parquet", None)
    assert len(read_predictions(path).predictions.y_true) == 100


def test_a_file_that_ends_its_reader_leaves_the_others_readable(tmp_path):
    path = parquet_of(tmp_path / "p.parquet", 200_000, row_group_size=1_000)
    frames = open_predictions(path).frames()
    read = next(frames).height
    with pytest.raises(Problem, match="takes more than 1 GiB"):
        read_predictions(next(one for one in CORPUS if one.name == "case-abort.parquet"))
    # the process that read both has ended; the file that was being read is read on
    assert read + sum(frame.height for frame in frames) == 200_000


def test_files_are_read_side_by_side_in_any_order(tmp_path):
    files = [parquet_of(tmp_path / f"{rows}.parquet", rows) for rows in (150_000, 70_000)]
    first, second = (open_predictions(file).frames() for file in files)
    heights = [next(first).height, next(second).height, next(second).height, next(first).height]
    assert heights == [64_000, 64_000, 6_000, 64_000]
    del first
    assert next(open_predictions(files[0]).frames()).height == 64_000


def test_more_rows_than_a_study_can_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_NUMBERS", 150)
    with pytest.raises(Problem, match="more than 75 rows of 2 classes, which a study cannot hold"):
        read_predictions(parquet_of(tmp_path / "p.parquet", 100))
