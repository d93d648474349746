"""Predictions files with several cases of one person, from the file to a study and a score."""

import json

import numpy as np
import polars as pl
import pytest

from elicit_app.session.result import judge_of
from elicit_app.study import create_study, open_study
from elicit_app.study.cluster import parts_of, tally_part
from elicit_app.study.identity import tells_person
from elicit_app.study.reading import read_predictions
from elicit_app.study.scoring import AS_USUAL
from metrics import ElicitedMetric, judge

MAPPED = "--truth y_true --columns malignant=proba_malignant,benign=proba_benign"
METRIC = ElicitedMetric.from_cost_matrix(["benign", "malignant"], [[0, 1], [5, 0]])


def cases(seed, column="patient_id", people=40, each=5):
    """Return cases of people whom one model tends to misjudge as a whole."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.random.default_rng(0).permutation(people), each)
    ill = np.random.default_rng(1).random(people * each) < 0.4
    seen = np.where(ill, 1.0, -1.0) + rng.standard_normal(people)[of]
    chance = 1 / (1 + np.exp(-2 * seen))
    return pl.DataFrame(
        {
            column: [f"MRN {one:03d}" for one in of],
            "y_true": np.where(ill, "malignant", "benign"),
            "proba_benign": 1 - chance,
            "proba_malignant": chance,
        }
    )


@pytest.fixture
def files(tmp_path):
    for seed, name in enumerate("ab"):
        cases(seed).write_csv(tmp_path / f"{name}.csv")
    METRIC.save(tmp_path / "m.metric.json")
    return tmp_path


def test_columns_are_known_that_tell_people_and_no_others():
    told = "patient_id PatientID person Subject subjectid MRN participant_id speaker donor Proband patient_name"
    told += " num_patient PatNr pat_id Patienten-ID Patientennummer id_paciente"
    assert [name for name in [*told.split(), "Patient No.", "patient number"] if not tells_person(name)] == []
    other = (
        "pid case_id study_id pat patients patience person_age subject_line name id no inpatient outpatient_no y_true"
    )
    assert [name for name in other.split() if tells_person(name)] == []


@pytest.mark.parametrize("column", ["patient_id", "Subject"])
@pytest.mark.parametrize("mapped", ["", MAPPED])
def test_people_are_told_and_drawn_as_a_whole(run_line, tmp_path, column, mapped):
    cases(0, column).write_csv(tmp_path / "a.csv")
    said = f"a.csv: by the column {column} these cases are of 40 people. How sure a result is rests on the people"
    METRIC.save(tmp_path / "m.metric.json")
    run_line("score m.metric.json a.csv")
    assert said in run_line.messages[-1]
    run_line(f"study new s a.csv {mapped}")
    assert said in run_line.messages[-1]
    judgement = judge_of(open_study(tmp_path / "s"), METRIC).at()
    assert judgement.people.total == 40
    assert "rests on 40 people, not on 200 cases" in judgement.notes[1]


def test_rows_that_repeat_cases_are_pointed_out_where_they_are_scored(run_line, files):
    table = pl.read_csv(files / "a.csv").rename({"patient_id": "rowIndex"})
    table.write_csv(files / "repeated.csv")
    run_line("score m.metric.json repeated.csv")
    assert "repeated.csv: by the column rowIndex the first 200 rows are of 40 cases. Every" in run_line.messages[-1]
    run_line("score m.metric.json a.csv")
    assert "Every row" not in run_line.messages[-1]
    table.with_columns(pl.lit("training").alias("set")).write_csv(files / "trained.csv")
    run_line("score m.metric.json trained.csv")
    assert "by the column set 200 of the first 200 rows are training cases" in run_line.messages[-1]


def test_a_study_and_its_files_say_the_same_as_the_files_it_was_made_from(run_line, files):
    of_files = json.loads(run_line("score m.metric.json a.csv b.csv --json"))
    assert of_files["people"] == 40
    create_study(files / "s", [files / "a.csv", files / "b.csv"])
    assert json.loads(run_line("score m.metric.json s/a.parquet s/b.parquet --json")) == of_files
    assert "person_digest" not in run_line.messages[-1]
    judgement = judge_of(open_study(files / "s"), METRIC).at()
    assert [one.probability_best for one in judgement.policies] == [
        one["probability_best"] for one in of_files["policies"]
    ]


def test_no_file_of_a_study_holds_what_people_are_called(run_line, files):
    create_study(files / "s", [files / "a.csv", files / "b.csv"])
    for path in (files / "s").iterdir():
        assert b"MRN" not in path.read_bytes()
    assert pl.read_parquet(files / "s" / "a.parquet")["person_digest"].n_unique() == 40
    run_line("study pack s p.elicit")
    assert b"person" not in (files / "p.elicit").read_bytes()


def test_one_file_is_enough_to_tell_people_also_when_its_model_is_taken_out(files):
    cases(1).drop("patient_id").write_csv(files / "b.csv")
    study = create_study(files / "s", [files / "b.csv", files / "a.csv"])
    without = create_study(files / "t", [files / "b.csv"])
    assert len(np.unique(study.people)) == 40
    assert without.people is None
    assert pl.read_parquet(files / "s" / "b.parquet")["person_digest"].n_unique() == 40


def test_parts_in_any_order_say_the_same_as_the_whole(files):
    cases(0).write_parquet(files / "a.parquet")
    whole, *parts = (
        tally_part(part, METRIC, None, AS_USUAL)
        for rows in (200, 70)
        for part in parts_of([("a", files / "a.parquet")], rows, METRIC.classes)
    )
    merged = parts.pop()
    for part in reversed(parts):
        merged.cases.merge(part.cases)
    np.testing.assert_array_equal(merged.cases.table().decided, whole.cases.table().decided)
    assert merged.cases.people.total == whole.cases.people.total == 40


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_case_of_nobody_is_of_somebody_else(tmp_path, ending):
    frame = cases(0).with_columns(pl.when(pl.int_range(200) > 2).then("patient_id").alias("patient_id"))
    path = tmp_path / f"a{ending}"
    frame.write_csv(path) if ending == ".csv" else frame.write_parquet(path)
    people = read_predictions(path).predictions.people
    assert len(np.unique(people)) == 40 + 3


@pytest.mark.parametrize(
    "ids",
    [
        pl.int_range(200, eager=True),
        pl.Series(["one"] * 200),
        pl.Series([[row // 5] for row in range(200)]),
        pl.Series([f"{row} {'long ' * 300}" for row in range(200)]),
    ],
    ids=["everybody once", "one for all", "nested", "long"],
)
def test_a_column_that_tells_no_people_apart_changes_nothing(tmp_path, ids):
    cases(0).with_columns(ids.alias("patient_id")).write_parquet(tmp_path / "a.parquet")
    assert read_predictions(tmp_path / "a.parquet").predictions.people is None


def test_whole_numbers_mean_the_same_people_however_they_are_written(tmp_path):
    numbered = cases(0).with_columns(pl.int_range(200).floordiv(5).alias("patient_id"))
    numbered.write_csv(tmp_path / "whole.csv")
    numbered.write_parquet(tmp_path / "whole.parquet")
    numbered.with_columns(pl.col("patient_id").cast(pl.Float64)).write_csv(tmp_path / "float.csv")
    found = [read_predictions(path).predictions.people for path in sorted(tmp_path.iterdir())]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_the_library_says_the_same_about_groups(files):
    frame = cases(0)
    read = read_predictions(files / "a.csv").predictions
    by_number, by_name = (
        judge(METRIC, frame["y_true"], {"a": read.y_proba}, groups=groups)
        for groups in (read.people, frame["patient_id"].to_numpy())
    )
    assert by_number.people.total == by_name.people.total == 40
    widths = [np.diff(one.named("a, with these costs").interval)[0] for one in (by_number, by_name)]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)
