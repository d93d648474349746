"""Classes whose names are grades, recognised by their names alone."""

import pytest

from elicit_app.study.guessing import in_grades


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
