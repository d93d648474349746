"""What columns mean, and classes that are grades, by their names and first values."""

import numpy as np
import pytest

from elicit_app.problem import Problem
from elicit_app.study import create_study, open_study
from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.guessing import answered_names, in_grades
from elicit_app.study.mapping import column_map
from elicit_app.study.model import ColumnMap
from elicit_app.study.reading import read_predictions


def test_a_class_in_other_capitals_is_no_class_of_its_own(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("truth,Well,Ill\n" + "Well,0.9,0.1\nIll,0.2,0.8\n" * 4 + "ill,0.3,0.7\n")
    found = read_first_rows(path).guess
    assert found.columns == found.classes == ("Well", "Ill")


def write_csv(path, head, *columns):
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def predicted(seed=1, n=200):
    """Return true labels and the probability of the second by a model that is usually right."""
    rng = np.random.default_rng(seed)
    true = rng.integers(2, size=n)
    right = np.where(rng.random(n) < 0.8, 2 * true - 1, 1 - 2 * true)
    return np.array(["ill", "well"])[true], (0.5 + 0.45 * right * rng.random(n)).round(4)


@pytest.mark.parametrize("head", ["outcome,risk", "outcome,risk_percent"])
def test_a_column_that_goes_up_to_a_hundred_is_of_percentages(tmp_path, head):
    true, well = predicted()
    path = write_csv(tmp_path / "p.csv", head, true, (100 * well).round(2))
    found = read_first_rows(path).guess
    assert (found.classes, found.kind) == (("ill", "well"), "percentages")
    read = read_predictions(path, columns=found)
    np.testing.assert_allclose(read.predictions.y_proba[:, 1], well)
    assert "was read as per cent" in read.notes[0]


def test_a_few_numbers_above_one_are_mistakes_and_both_signs_are_raw_scores(tmp_path):
    true, well = predicted()
    faulty = np.where(np.arange(200) < 8, 50.0, well)
    found = column_map(
        read_first_rows(write_csv(tmp_path / "f.csv", "outcome,p", true, faulty)), columns=[("well", "p")]
    )
    assert found.kind == "probabilities"
    with pytest.raises(Problem, match=r"Row 1: p is 50, above 1, and so in 7 more rows \(probabilities lie"):
        read_predictions(tmp_path / "f.csv", columns=found)
    assert read_first_rows(write_csv(tmp_path / "l.csv", "outcome,p", true, 20 * (well - 0.5))).guess.kind == "logits"


def test_ratings_are_no_percentages_and_decisions_beside_them_come_first(tmp_path):
    true, well = predicted()
    ratings, said = np.ceil(5 * well).astype(int), np.where(well > 0.6, "well", "ill")
    assert read_first_rows(write_csv(tmp_path / "r.csv", "truth,rating", true, ratings)).guess.kind == "logits"
    found = read_first_rows(write_csv(tmp_path / "s.csv", "truth,rating,call", true, ratings, said)).guess
    assert (found.kind, found.columns) == ("labels", ("call",))


def test_an_alarm_at_a_limit_of_the_score_is_not_the_truth(tmp_path):
    true, well = predicted()
    event = (true == "well").astype(int)
    alarm = (well > 0.7).astype(int)
    for head, columns in (("alert,event,score", (alarm, event, well)), ("event,alert,score", (event, alarm, well))):
        assert read_first_rows(write_csv(tmp_path / "a.csv", head, *columns)).guess.truth == "event"
    assert read_first_rows(write_csv(tmp_path / "b.csv", "hit,score", alarm, well)).guess.truth == "hit", (
        "or nothing is"
    )


def test_groups_of_columns_for_the_same_classes_are_other_models(tmp_path):
    classes, rng = ("cat", "dog", "owl"), np.random.default_rng(2)
    true = rng.integers(3, size=90)
    groups = [rng.dirichlet(np.ones(3), 90).round(6) for _ in range(3)]
    head = ["truth", *(f"{name}_{net}" for net in ("lenet", "vit") for name in classes), "n_cat", "n_dog", "n_owl"]
    counts = (100 * groups[2]).astype(int)
    path = write_csv(tmp_path / "n.csv", ",".join(head), np.array(classes)[true], *groups[0].T, *groups[1].T, *counts.T)
    first_rows = read_first_rows(path)
    assert first_rows.guess.called == "lenet"
    assert [one.called for one in first_rows.likely_models] == ["vit"], "counts are no probabilities"


@pytest.mark.parametrize(
    ("classes", "truth", "names"),
    [
        (("no", "yes"), "readmitted", ("not readmitted", "readmitted")),
        (("Yes", "No"), "Died within 30 days", ("died within 30 days", "not died within 30 days")),
        (("0", "1"), "is_malignant", ("not malignant", "malignant")),
        (("0", "1"), "ARDS", ("not ARDS", "ARDS")),
        (("0", "1"), "is", ("0", "1")),
        (("0", "1"), "y_true", ("0", "1")),
        (("no", "yes"), "true label", ("no", "yes")),
        (("0", "1", "2"), "grade", ("0", "1", "2")),
        (("benign", "malignant"), "biopsy", ("benign", "malignant")),
    ],
)
def test_a_column_that_asks_by_its_name_names_its_answers(classes, truth, names):
    assert answered_names(classes, truth) == names


def test_a_study_of_such_a_column_reads_like_it(tmp_path):
    true, well = predicted()
    path = write_csv(tmp_path / "r.csv", "readmitted,risk", np.where(true == "well", "yes", "no"), well)
    study = create_study(tmp_path / "made", [path], columns=ColumnMap("readmitted", ("no", "yes"), ("risk",)))
    assert study.classes == ("no", "yes")
    assert study.wording.mistake((0, 1)).many == "not readmitted cases called readmitted"
    assert open_study(str(tmp_path / "made")).wording == study.wording


def test_numbers_may_stand_between_spaces(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("truth , Well, Ill\n" + "Well , 0.75, 0.25\nIll, 0.5 , 0.5\n")
    read = read_predictions(path, columns=read_first_rows(path).guess)
    np.testing.assert_array_equal(read.predictions.y_proba, [[0.75, 0.25], [0.5, 0.5]])
    assert read.predictions.y_true.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("classes", "order"),
    [
        (("Mild", "Moderate", "No_DR", "Proliferate_DR", "Severe"), (2, 0, 1, 4, 3)),
        (("BI-RADS 5", "BI-RADS 2", "BI-RADS 3"), (1, 2, 0)),
        (("G1", "G2", "G3"), (0, 1, 2)),
        (("CIN III", "CIN I", "CIN II"), (1, 2, 0)),
        (("mild", "severe", "control"), (2, 0, 1)),
        (("mild", "fatal", "severe"), (0, 2, 1)),
        (("poorly differentiated", "well differentiated", "moderately differentiated"), (1, 2, 0)),
        (("10", "2", "1"), (2, 1, 0)),
        (("0.5", "1.5"), None),
        (("visit1", "control2"), None),
        (("negative", "neutral", "positive"), None),
        (("covid19", "normal", "pneumonia"), None),
        (("benign", "melanoma", "keratosis"), None),
        (("red", "amber", "green"), None),
    ],
)
def test_grades_are_recognised_by_their_names(classes, order):
    assert in_grades(classes) == order
