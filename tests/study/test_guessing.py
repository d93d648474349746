"""What columns mean, and classes that are grades, by their names and first values."""

import numpy as np
import pytest

from elicit_app.study.first_rows import read_first_rows
from elicit_app.study.guessing import in_grades
from elicit_app.study.reading import read_predictions


def test_a_class_in_other_capitals_is_no_class_of_its_own(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("truth,Well,Ill\n" + "Well,0.9,0.1\nIll,0.2,0.8\n" * 4 + "ill,0.3,0.7\n")
    found = read_first_rows(path).guess
    assert found.columns == found.classes == ("Well", "Ill")


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
        (("10", "2", "1"), (2, 1, 0)),
        (("0.5", "1.5"), None),
        (("visit1", "control2"), None),
        (("negative", "neutral", "positive"), None),
        (("covid19", "normal", "pneumonia"), None),
        (("red", "amber", "green"), None),
    ],
)
def test_grades_are_recognised_by_their_names(classes, order):
    assert in_grades(classes) == order
