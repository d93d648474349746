"""Decisions with "refer to a person" among them."""

import numpy as np
import pandas as pd
import pytest

from metrics import ElicitedMetric, InputError

COSTS = np.array([[0, 1, 0.5], [0.2, 0, 0.3], [0.9, 0.8, 0]])
METRIC = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS)
RNG = np.random.default_rng(3)
PROBA = RNG.dirichlet([1, 1, 1], 300)
TRUE = np.array(["a", "b", "c"])[[RNG.choice(3, p=row) for row in PROBA]]


def test_zero_one_costs_with_an_abstention_of_one_fifth():
    """The abstention example of the library expected_cost: error rate, or 0.2 for every case that is not decided."""
    metric = ElicitedMetric.from_cost_matrix([0, 1, 2], 1 - np.eye(3))
    referral = metric.refer(0.2, label=3)
    decided = referral.decide(PROBA)
    np.testing.assert_array_equal(decided, np.where(PROBA.max(axis=1) < 0.8, 3, PROBA.argmax(axis=1)))
    true = np.searchsorted(["a", "b", "c"], TRUE)
    by_hand = np.where(decided == 3, 0.2, decided != true).mean()
    assert referral.score(true, decided) == pytest.approx(by_hand, abs=1e-12)
    assert referral.score(true, decided) < metric.score(true, metric.decide(PROBA))


@pytest.mark.parametrize(
    "cost", [0.1, [0.3, 0.02, 0.1], {"c": 0.1, "a": 0.3, "b": 0.02}, pd.Series([0.1, 0.3, 0.02], index=["c", "a", "b"])]
)
def test_referring_is_one_more_column_of_the_costs(cost):
    referral = METRIC.refer(cost, label="ask")
    column = [0.1] * 3 if isinstance(cost, float) else [0.3, 0.02, 0.1]
    np.testing.assert_array_equal(referral.cost_matrix, np.column_stack([COSTS, column]))
    expected = (PROBA @ np.column_stack([COSTS, column])).argmin(axis=1)
    np.testing.assert_array_equal(referral.decide(PROBA), np.array(["a", "b", "c", "ask"])[expected])
    weight = RNG.random(300)
    true = np.searchsorted(["a", "b", "c"], TRUE)
    mean = np.average(np.column_stack([COSTS, column])[true, expected], weights=weight)
    assert referral.score(TRUE, referral.decide(PROBA), sample_weight=weight) == pytest.approx(mean, abs=1e-12)


def test_what_costs_more_than_any_mistake_is_never_chosen():
    np.testing.assert_array_equal(METRIC.refer(1.0).decide(PROBA), METRIC.decide(PROBA))
    assert set(METRIC.refer(0.0).decide(np.eye(3)[[0]] * 0.9 + 0.1 / 3)) == {"refer"}


def test_columns_are_named_as_in_decide():
    swapped = METRIC.refer(0.1).decide(PROBA[:, [2, 0, 1]], labels=["c", "a", "b"])
    np.testing.assert_array_equal(swapped, METRIC.refer(0.1).decide(PROBA))


@pytest.mark.parametrize(
    ("cost", "label", "words"),
    [
        (-0.1, "refer", "cost: a number >= 0 was expected"),
        ([0.1, 0.2], "refer", "or 3 of them, one per class"),
        ({"a": 0.1, "b": 0.2}, "refer", "cost: no cost for the class 'c'"),
        ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, "refer", "cost, row 3: d is not one of the classes"),
        (float("nan"), "refer", "cost"),
        (0.1, "a", "label: 'a' is a class"),
        (0.1, "b", "label: 'b' is a class"),
        (0.1, None, "label: None is missing"),
    ],
)
def test_costs_that_are_none_are_said_in_words(cost, label, words):
    with pytest.raises(InputError, match=words):
        METRIC.refer(cost, label=label)


def test_labels_that_are_none_are_said_in_words():
    with pytest.raises(InputError, match=r"decisions, row 1: d is not one of the classes \(a, b, c, refer\)"):
        METRIC.refer(0.1).score(["a", "b"], ["refer", "d"])
    with pytest.raises(InputError, match="2 cases were expected"):
        METRIC.refer(0.1).score(["a", "b"], ["refer"])


def test_columns_named_after_the_classes_are_read_by_name_where_data_call_them_otherwise():
    encoded = METRIC.with_labels({"a": 2, "b": 0, "c": 1})
    frame = pd.DataFrame(PROBA, columns=[*"abc"])[[*"bca"]]
    np.testing.assert_array_equal(encoded.refer(0.1).decide(frame), encoded.refer(0.1).decide(PROBA))


def test_cases_that_weigh_nothing_have_no_mean():
    with pytest.raises(InputError, match="no case with a weight above zero"):
        METRIC.refer(0.1).score(TRUE, TRUE, sample_weight=np.zeros(len(TRUE)))


def test_decisions_of_an_estimator_of_zero_and_one_fit_the_classes_false_and_true():
    referral = ElicitedMetric.from_cost_matrix(["False", "True"], [[0, 0.1], [1, 0]]).refer(0.01)
    decided = referral.decide([[0.5, 0.5], [0, 1], [1, 0]], labels=[0, 1])
    assert decided.tolist() == ["refer", 1, 0]
    assert referral.score([0, 1, 1], decided) == pytest.approx((0.01 + 0 + 1) / 3)
