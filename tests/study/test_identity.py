"""Which case each row is: files of the same cases in different orders, and no name of a case in a study."""

import numpy as np
import polars as pl
import pytest

from elicit_app.problem import Problem
from elicit_app.study import create_study, open_study
from elicit_app.study.identity import tells_case
from elicit_app.study.making import change_study, study_of
from elicit_app.study.model import ColumnMap

N = 60
TRUE = np.array(["ill", "well"])[(np.random.default_rng(0).random(N) < 0.7).astype(int)]


def model(seed, order=None, truth=TRUE, **more):
    """Return a model's predictions of all cases, with further columns, in some order of the rows."""
    chance = np.clip(np.where(truth == "ill", 0.7, 0.3) + np.random.default_rng(seed).normal(0, 0.2, N), 0, 1)
    frame = pl.DataFrame({**more, "y_true": truth, "proba_ill": chance, "proba_well": 1 - chance})
    return frame if order is None else frame[order]


def shuffled(seed=9):
    return np.random.default_rng(seed).permutation(N)


def within_labels(seed=9):
    """Return an order of sorted cases in which the true labels, row by row, stay the same."""
    ill = int((TRUE == "ill").sum())
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.permutation(ill), ill + rng.permutation(N - ill)])


IMAGES = [f"img{number:03d}.png" for number in range(N)]


def test_columns_are_known_that_tell_cases_and_no_others():
    told = "case_id Case image image_id img filename file_path id ID uid sample scan-number ExamID lesion_id Fall-Nr"
    told += " visit_id guid"
    assert [name for name in [*told.split(), "case no."] if not tells_case(name)] == []
    other = (
        "index row unnamed: fold age case_age identity grid y_true proba_image patient_id images filesize text row_id"
    )
    assert [name for name in [*other.split(), ""] if tells_case(name)] == []


@pytest.mark.parametrize("order", [shuffled(), within_labels()], ids=["shuffled", "within the labels"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_files_in_another_order_make_the_same_study(tmp_path, order, ending):
    truth = np.sort(TRUE)

    def write(name, frame):
        path = tmp_path / f"{name}.{ending}"
        if ending == "npz":
            arrays = {name: frame[name].to_numpy() for name in ("image", "y_true")}
            proba = frame[["proba_ill", "proba_well"]].to_numpy()
            np.savez(path, **{k: v.astype(str) for k, v in arrays.items()}, y_proba=proba, classes=["ill", "well"])
        else:
            getattr(frame, f"write_{ending}")(path)
        return path

    first = write("a", model(1, truth=truth, image=IMAGES))
    straight = create_study(tmp_path / "straight", [first, write("b", model(2, truth=truth, image=IMAGES))])
    mixed = create_study(tmp_path / "mixed", [first, write("b", model(2, order, truth, image=IMAGES))])
    assert mixed.digest == straight.digest
    assert open_study(tmp_path / "mixed").digest == straight.digest
    assert f"b.{ending}: its rows were put in the order of {first.name}, by the column image." in mixed.notes
    assert not any("order" in note for note in straight.notes)


def test_columns_of_other_names_and_cases_told_by_their_patients_are_put_in_order_too(tmp_path):
    named = {"y_true": "truth", "proba_ill": "p1", "proba_well": "p2"}
    meant = ColumnMap("truth", ("ill", "well"), ("p1", "p2"))
    numbers = np.arange(100, 100 + N)
    model(1, Patient=numbers).rename(named).write_csv(tmp_path / "a.csv")
    model(2, shuffled(), Patient=numbers.astype(float)).rename(named).write_csv(tmp_path / "b.csv")
    study = create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"], columns=meant)
    expected = model(2)["proba_ill"].to_numpy()
    assert study.models[1].y_proba[:, 0] == pytest.approx(expected)
    assert study.people is None


def test_whose_the_cases_are_goes_with_them(tmp_path):
    people = np.repeat(np.arange(N // 3), 3)
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    model(2, shuffled(), image=IMAGES, patient_id=people).write_csv(tmp_path / "b.csv")
    study = create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"])
    _, numbered = np.unique(study.people, return_inverse=True)
    assert len({*zip(numbered.tolist(), people.tolist(), strict=True)}) == N // 3


def test_a_model_added_to_a_saved_study_is_put_in_its_order(tmp_path):
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    model(2, shuffled(), image=IMAGES).write_csv(tmp_path / "b.csv")
    create_study(tmp_path / "s", [tmp_path / "a.csv"])
    changed = change_study(open_study(tmp_path / "s"), add=[tmp_path / "b.csv"])
    assert changed.notes == ("b.csv: its rows were put in the order of “S”, by the column image.",)
    assert open_study(tmp_path / "s").models[1].y_proba[:, 0] == pytest.approx(model(2)["proba_ill"].to_numpy())
    stored = b"".join(path.read_bytes() for path in (tmp_path / "s").iterdir())
    assert b"img0" not in stored


def test_other_cases_with_the_same_labels_are_taken_as_they_stand_and_that_is_said(tmp_path):
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    model(2, image=[f"other/{name}" for name in IMAGES]).write_csv(tmp_path / "b.csv")
    study = create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"])
    assert study.models[1].y_proba[:, 0] == pytest.approx(model(2)["proba_ill"].to_numpy())
    (note,) = study.notes
    assert note.startswith("b.csv: by the column image its cases are not those of a.csv. Their true")


def test_one_case_with_two_labels_is_refused_with_both_rows(tmp_path):
    order = shuffled()
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    wrong = TRUE.copy()
    wrong[order[4]] = "well" if wrong[order[4]] == "ill" else "ill"
    model(2, order, wrong, image=IMAGES).write_csv(tmp_path / "b.csv")
    found = rf"Row 5 of .*b.csv and row {order[4] + 1} of .*a.csv are one case by the column image"
    with pytest.raises(Problem, match=found):
        create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"])
    assert not (tmp_path / "s").exists()


def test_a_file_of_some_of_the_cases_is_refused_with_the_first_that_it_lacks(tmp_path):
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    model(2, image=IMAGES)[[0, 1, *range(5, N)]].write_csv(tmp_path / "b.csv")
    with pytest.raises(
        Problem,
        match=r"By the column image, b.csv lacks 3 cases of it, first that of row 3\. Leave them out of every file; ",
    ):
        create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(
        Problem, match=r"By the column image, a.csv has 3 cases more, first that of row 3: leave them out"
    ):
        create_study(tmp_path / "s", [tmp_path / "b.csv", tmp_path / "a.csv"])


@pytest.mark.parametrize("rows", [slice(0, N - 2), slice(None, None, -1)], ids=["fewer", "as many"])
def test_files_of_several_places_are_told_to_be_put_into_one(tmp_path, rows):
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    model(2, image=[f"elsewhere {one}" for one in IMAGES])[rows].write_csv(tmp_path / "b.csv")
    said = r"By the column image, they have no case in common\. Cases of one .* places belong in one file\.$"
    with pytest.raises(Problem, match=said):
        create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"])


@pytest.mark.parametrize("column", ["image", "rowIndex"])
def test_rows_that_repeat_cases_are_pointed_out(tmp_path, column):
    def notes(**more):
        model(1, **more).write_csv(tmp_path / "m.csv")
        return study_of([tmp_path / "m.csv"], kind="file", name="m").notes

    (note,) = notes(**{column: [number % 20 for number in range(N)]})
    assert note.startswith(
        f"m.csv: by the column {column} the first 60 rows are of 20 cases. Every row counts as a case"
    )
    assert note.endswith(
        "too sure. Leave one row a case or, to draw cases with all their rows, call the column person_id."
    )
    nets, wards = [("vit", "resnet", "lenet")[number // 20] for number in range(N)], ["A", "B"] * (N // 2)
    (note,) = notes(ward=wards, net=nets, **{column: [number % 20 for number in range(N)]})
    assert "If net says which model or reader (“lenet”, “resnet”, “vit”), say so when the study is made, or" in note
    path = tmp_path / "m.csv"
    path.write_text(path.read_text().replace("ward", "net", 1))
    (note,) = study_of([path], kind="file", name="m").notes
    assert "If net" not in note, "of two columns of one name, which nobody needs, nothing is said"
    assert notes(**{column: range(N)}) == ()
    assert notes(**{column: [number % 2 for number in range(N)]}) == (), "the folders of the images, say"
    (note,) = notes(person_id=[number % 20 for number in range(N)], **{column: [number % 20 for number in range(N)]})
    assert "by the column person_id these cases are of 20 people" in note


@pytest.mark.parametrize("columns", [None, ColumnMap("y_true", ("ill", "well"), ("proba_ill", "proba_well"))])
def test_cases_of_the_training_set_are_pointed_out(tmp_path, columns):
    def notes(**more):
        model(1, **more).write_csv(tmp_path / "m.csv")
        return study_of([tmp_path / "m.csv"], kind="file", name="m", columns=columns).notes

    (note,) = notes(Split=["Train", "test", "val"] * (N // 3))
    assert note == (
        "m.csv: by the column Split 20 of the first 60 rows are training cases. On these a model does better than on "
        "others: leave them out."
    )
    assert notes(split=["val", "test"] * (N // 2), vehicle=["train"] * N) == ()


def test_a_count_of_the_rows_brings_no_file_into_another_order(tmp_path):
    truth = np.sort(TRUE)
    model(1, None, truth, rowIndex=range(N)).write_csv(tmp_path / "a.csv")
    model(2, within_labels(), truth, rowIndex=range(N)).write_csv(tmp_path / "b.csv")
    study = study_of([tmp_path / "a.csv", tmp_path / "b.csv"], kind="file", name="a")
    assert study.notes == ()
    assert [one.cases for one in study.models] == [None, None]


@pytest.mark.parametrize("names", [["same"] * N, [None, *IMAGES[1:]]], ids=["one name", "a name missing"])
def test_names_that_do_not_tell_cases_apart_are_not_used(tmp_path, names):
    model(1, image=names).write_csv(tmp_path / "a.csv")
    model(2, image=names).write_csv(tmp_path / "b.csv")
    study = create_study(tmp_path / "s", [tmp_path / "a.csv", tmp_path / "b.csv"])
    assert [one.cases for one in study.models] == [None, None]
    model(2, shuffled(), image=names).write_csv(tmp_path / "b.csv")
    with pytest.raises(Problem, match="in the same order, or each names them in a column like case_id"):
        create_study(tmp_path / "t", [tmp_path / "a.csv", tmp_path / "b.csv"])


def test_pictures_beside_the_predictions_are_no_names_of_cases_and_not_read(tmp_path):
    pictures = [{"bytes": bytes([at]) * 9, "path": name} for at, name in enumerate(IMAGES)]
    model(1, image=pictures).write_parquet(tmp_path / "a.parquet")
    frame = model(1)
    proba = frame[["proba_ill", "proba_well"]].to_numpy()
    objects = np.array([None, *IMAGES[1:]], dtype=object)
    beside = {"image": np.zeros((N, 3, 3)), "id": objects, "path": np.array("model.pt"), "scan": np.zeros(3)}
    np.savez(
        tmp_path / "b.npz",
        y_true=frame["y_true"].to_numpy().astype(str),
        y_proba=proba,
        classes=["ill", "well"],
        **beside,
    )
    study = create_study(tmp_path / "s", [tmp_path / "a.parquet", tmp_path / "b.npz"])
    assert [one.cases for one in study.models] == [None, None]
    assert study.notes == ()


def test_a_packed_study_tells_nothing_of_its_cases(tmp_path, elicit):
    model(1, image=IMAGES).write_csv(tmp_path / "a.csv")
    for line in ("study new s a.csv", "study pack s s.elicit"):
        assert elicit(*line.split(), cwd=tmp_path).returncode == 0
    assert b"digest" in (tmp_path / "s.elicit").read_bytes()
    assert b"case_digest" not in (tmp_path / "s.elicit").read_bytes()
    assert pl.read_parquet(tmp_path / "s" / "a.parquet").columns[-1] == "case_digest"
