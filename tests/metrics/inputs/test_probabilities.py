"""What counts as probabilities, and what is said where something does not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from metrics.inputs.labels import ROW_SUM_TOLERANCE, probability_array
from metrics.measures.costs import expected_misclassification_cost
from metrics.measures.likelihood import negative_log_likelihood

GOOD = [[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.1, 0.8]]
Y = [0, 1, 2]


def refused(proba, y=Y):
    with pytest.raises(ValueError) as caught:
        negative_log_likelihood(y, proba)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "y_proba, row 1: the value in column 2 is nan; a probability in [0, 1] was expected."),
        (np.inf, "y_proba, row 1: the value in column 2 is inf; a probability in [0, 1] was expected."),
        (-np.inf, "y_proba, row 1: the value in column 2 is -inf; a probability in [0, 1] was expected."),
        (-0.2, "y_proba, row 1: the value in column 2 is -0.2; a probability cannot be negative."),
        (0.3, "y_proba, row 1: the probabilities add up to 1.1; 1 was expected, within 0.001."),
    ],
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_bad_row_is_named(value, said, kind):
    proba = np.array(GOOD, dtype=kind)
    proba[1, 2] = value
    assert refused(proba) == said


def test_the_first_bad_row_is_named_whatever_the_threads():
    proba = np.full((400_000, 10), 0.1)
    proba[[300_007, 123_456, 399_999]] = 0.2
    assert refused(proba, np.zeros(400_000, dtype=int)).startswith(
        "y_proba, row 123456: the probabilities add up to 2;"
    )


def test_row_sums_have_the_stated_tolerance():
    inside, outside = np.array([[0.5, 0.5 + 0.9 * ROW_SUM_TOLERANCE]]), np.array([[0.5, 0.5 - 1.1 * ROW_SUM_TOLERANCE]])
    assert negative_log_likelihood([0], inside) == pytest.approx(np.log(2))
    assert "add up to 0.9989" in refused(outside, [0])


@pytest.mark.parametrize(
    ("proba", "word"),
    [
        ([[0.5, 0.5], [1.0]], "different lengths"),
        ([["a", "b"]], "row 0, column 0: a probability was expected, found 'a'"),
        (np.array([[0.5, "x"]], dtype=object), "row 0, column 1: a probability was expected, found 'x'"),
        (np.empty((0, 3)), "at least one case"),
        ([[1.0]], "at least two classes"),
        (np.ones((2, 2, 2)), "the shape is"),
        (0.5, "the shape is"),
        ("0.5", "y_proba: a table of probabilities was expected, found str."),
        ({"a": [0.5], "b": [0.5]}, "y_proba: a table of probabilities was expected, found dict."),
        (np.array([[1j, 0]]), "complex"),
        ([0.2, 1.2], "row 1: a probability in [0, 1] was expected, found 1.2"),
    ],
)
def test_what_is_no_table_of_probabilities(proba, word):
    message = refused(proba, [0, 1])
    assert message.startswith("y_proba")
    assert word in message


def test_lengths_must_agree():
    assert refused(GOOD, [0, 1]) == "y_proba: 2 cases were expected, as many as in y_true, found 3."


@pytest.mark.parametrize(
    "table",
    [
        GOOD,
        tuple(map(tuple, GOOD)),
        np.array(GOOD),
        np.asfortranarray(GOOD),
        pd.DataFrame(GOOD),
        pl.DataFrame(GOOD, orient="row"),
        np.array(GOOD, dtype=object),
        np.repeat(np.array(GOOD), 2, axis=0)[::2],
    ],
)
def test_containers(table):
    assert negative_log_likelihood(Y, table) == pytest.approx(-np.log([0.7, 0.5, 0.8]).mean(), abs=1e-15)


def test_whole_numbers_and_booleans_are_probabilities():
    assert expected_misclassification_cost([0, 1], [[1, 0], [1, 0]], [[0, 3], [5, 0]]) == 2.5
    assert expected_misclassification_cost([0, 1], np.array([[True, False]] * 2), [[0, 3], [5, 0]]) == 2.5


def test_precision_is_kept_and_nothing_is_copied():
    single = np.array(GOOD, dtype=np.float32)
    double = np.array(GOOD)
    assert probability_array(single) is single
    assert probability_array(double) is double
    assert probability_array(single.astype(np.float16)).dtype == np.float32


def test_one_column_is_the_probability_of_the_second_class():
    one = np.array([0.2, 0.9, 0.5])
    both = np.column_stack([1 - one, one])
    assert negative_log_likelihood(["no", "yes", "no"], one) == negative_log_likelihood(["no", "yes", "no"], both)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        ([1, -1, 0], "sample_weight, row 1: a weight cannot be negative, found -1."),
        ([1, np.nan, 0], "sample_weight, row 1: a finite number was expected, found nan."),
        ([1e300, 1, 1], "sample_weight, row 0: a finite number of at most 1e+100 was expected, found 1e+300."),
        (np.ma.array([1.0, 2, 3], mask=[0, 0, 1]), "sample_weight, row 2: a finite number was expected, found nan."),
        ([1, 2], "sample_weight: 3 cases were expected, as many as in y_true, found 2."),
        ([[1, 2, 3]], "sample_weight: one weight per case was expected, the shape is (1, 3)."),
        ("abc", "sample_weight: numbers were expected, all rows of the same length."),
        (np.array([1, 1j, 0]), "sample_weight: numbers were expected, all rows of the same length."),
        (np.array([1, 2, 3], dtype="M8[D]"), "sample_weight: numbers were expected, all rows of the same length."),
        ([0, 0, 0], "There is no case with a weight above zero (sample_weight, class_weight), so there is no mean."),
    ],
)
def test_weights(weight, said):
    with pytest.raises(ValueError) as caught:
        negative_log_likelihood(Y, GOOD, sample_weight=weight)
    assert str(caught.value) == said


def test_what_is_masked_is_missing():
    hidden = np.ma.array(GOOD, mask=np.zeros(np.shape(GOOD), dtype=bool))
    assert negative_log_likelihood(Y, hidden) == negative_log_likelihood(Y, GOOD)
    hidden[1, 0] = np.ma.masked
    with pytest.raises(ValueError, match=r"^y_proba, row 1: the value in column 0 is nan"):
        negative_log_likelihood(Y, hidden)
