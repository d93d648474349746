"""Readers who read some of the cases: everybody is compared on those that all of them read."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_app.problem import Problem
from elicit_app.study import create_study, open_study
from elicit_app.study.making import change_study, study_of
from elicit_app.study.model import ColumnMap

CLASSES = ("naevus", "lump", "cancer")
READER = ColumnMap("y_true", CLASSES, ("Dr. A",), "labels", skip_unread=True)
OTHER = replace(READER, columns=("Dr. B",))


def table(n, seed=0):
    """Return a file of a model and two readers, by whom every case was read."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(3), rng.choice(3, n - 3)])
    proba = rng.dirichlet(np.ones(3), n)
    said = {name: np.where(rng.random(n) < 0.8, truth, rng.choice(3, n)) for name in ("Dr. A", "Dr. B")}
    return pl.DataFrame(
        {"case_id": [f"c{number}" for number in range(n)]}
        | {"y_true": np.array(CLASSES)[truth]}
        | {f"proba_{name}": proba[:, at] for at, name in enumerate(CLASSES)}
        | {name: np.array(CLASSES)[labels] for name, labels in said.items()}
    )


def unread(frame, name, rows):
    """Return the table without the labels of a reader in some rows."""
    return frame.with_columns(
        pl.when(pl.int_range(pl.len()).is_in(rows)).then(None).otherwise(pl.col(name)).alias(name)
    )


@given(st.sets(st.integers(3, 29)), st.sets(st.integers(3, 29)), st.sampled_from(["one file", "names", "no names"]))
def test_a_study_is_that_of_the_cases_which_everybody_read(tmp_path_factory, first, second, given_in):
    folder, whole = tmp_path_factory.mktemp("cases"), table(30)
    partly = unread(unread(whole, "Dr. A", sorted(first)), "Dr. B", sorted(second))
    left = whole.filter(~pl.int_range(pl.len()).is_in(sorted(first | second)))
    left.write_csv(folder / "left.csv")
    expected = study_of([folder / "left.csv"] * 3, kind="file", name="s", columns=[None, READER, OTHER])
    if given_in == "names":
        model, *readers = (folder / f"{name}.csv" for name in ("model", "Dr. A", "Dr. B"))
        partly.drop("Dr. A", "Dr. B").write_csv(model)
        for path in readers:
            partly["case_id", "y_true", path.stem].drop_nulls().sample(fraction=1, shuffle=True, seed=1).write_csv(path)
        files = [model, *readers]
    else:
        partly.drop([] if given_in == "one file" else ["case_id"]).write_csv(folder / "all.csv")
        files = [folder / "all.csv"] * 3
    study = study_of(files, kind="file", name="s", columns=[None, READER, OTHER])
    assert study.digest == expected.digest
    for one, other in zip(study.models, expected.models, strict=True):
        np.testing.assert_array_equal(one.y_proba, other.y_proba)
    note = f"Only the {len(left)} of 30 cases that everybody read are compared."
    assert (note in study.notes) == bool(first | second)


def test_rows_are_numbered_as_in_the_file_behind_cases_that_were_not_read(tmp_path):
    frame = unread(table(9), "Dr. A", [3, 4]).with_columns(
        pl.when(pl.col("case_id") == "c7").then(pl.lit("wart")).otherwise(pl.col("Dr. A")).alias("Dr. A")
    )
    frame.write_csv(tmp_path / "m.csv")
    with pytest.raises(Problem, match="Row 8: the predicted label “wart” is not one of the classes"):
        study_of([tmp_path / "m.csv"] * 2, kind="file", name="s", columns=[None, READER])


def test_where_too_few_cases_are_left_or_none_is_named_it_is_said(tmp_path):
    whole = table(9)
    unread(unread(whole, "Dr. A", range(5)), "Dr. B", range(4, 9)).write_csv(tmp_path / "m.csv")
    with pytest.raises(Problem, match=r"^Everybody read 0 cases of 9: leave a reader out\.$"):
        study_of([tmp_path / "m.csv"] * 3, kind="file", name="s", columns=[None, READER, OTHER])
    unread(whole, "Dr. A", [1, 2, *np.flatnonzero(whole["y_true"] != "naevus")]).write_csv(tmp_path / "m.csv")
    with pytest.raises(Problem, match="Every row has the true label “naevus”"):
        study_of([tmp_path / "m.csv"] * 2, kind="file", name="s", columns=[None, READER])
    whole["y_true", "Dr. A"][:5].write_csv(tmp_path / "reader.csv")
    with pytest.raises(Problem, match=r"^m.csv and reader.csv do not tell which .*: name each case in a column like"):
        study_of([tmp_path / "m.csv", tmp_path / "reader.csv"], kind="file", name="s", columns=[None, READER])


def test_a_study_keeps_its_cases_and_forgets_that_some_were_skipped(tmp_path):
    unread(table(30), "Dr. A", [4, 5]).drop("Dr. B").write_csv(tmp_path / "m.csv")
    create_study(tmp_path / "s", [tmp_path / "m.csv"], columns=[READER])
    study = open_study(tmp_path / "s")
    assert study.columns == replace(READER, skip_unread=False)
    assert study.unread_notes == ("Only the 28 of 30 cases that everybody read are compared.",)
    assert change_study(study, rename={"m": "Dr. A"}).unread == 2
    assert "skip" not in (tmp_path / "s" / "study.json").read_text()
    with pytest.raises(Problem, match="“S” stays with its cases: to skip those that not everybody read, make another"):
        change_study(study, add=[tmp_path / "m.csv"], columns=READER)
