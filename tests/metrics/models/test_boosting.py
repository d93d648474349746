"""The objective for LightGBM and XGBoost, by differences and in both libraries."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from metrics import ElicitedMetric, ExpectedCostObjective, InputError

COSTS = np.array([[0, 1, 0.5], [0.2, 0, 0.3], [0.9, 0.8, 0]])
# Not in sorted order: both libraries encode labels as sorted.
METRIC = ElicitedMetric.from_cost_matrix(["b", "c", "a"], COSTS[np.ix_([1, 2, 0], [1, 2, 0])])
RNG = np.random.default_rng(2)


def expected_cost(true, margins):
    proba = np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)
    return (proba * COSTS[true]).sum(axis=1)


def test_the_gradient_is_that_of_the_expected_cost():
    true, margins, weight = RNG.integers(0, 3, 20), RNG.normal(size=(20, 3)), RNG.random(20)
    gradient, curvature = ExpectedCostObjective(METRIC)(true, margins, weight)
    for j in range(3):
        step = np.eye(3)[j] * 1e-6
        numeric = (expected_cost(true, margins + step) - expected_cost(true, margins - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], weight * numeric, atol=1e-9)
    assert (curvature > 0).all()


def test_two_classes_have_one_margin():
    metric = ElicitedMetric.from_cost_matrix([0, 1], [[0, 0.25], [1, 0]])
    margins = RNG.normal(size=8)
    gradient, _ = ExpectedCostObjective(metric)([0, 1] * 4, margins)
    both, _ = ExpectedCostObjective(metric)([0, 1] * 4, np.column_stack([np.zeros(8), margins]))
    np.testing.assert_allclose(gradient, both[:, 1])
    with pytest.raises(InputError, match="margins of 3 classes were expected"):
        ExpectedCostObjective(METRIC)([0, 1], [0.5, 0.1])
    with pytest.raises(InputError, match="margins of 3 classes were expected"):  # by case or by class?
        ExpectedCostObjective(METRIC)([0, 1], np.zeros(6))
    with pytest.raises(InputError, match="margins of 2 classes were expected"):
        ExpectedCostObjective(metric)([0, 1], [0.5, 0.1, 0.2])


@pytest.mark.parametrize(
    ("true", "weight", "message"),
    [
        ([0, -1], None, "y_true, row 1: -1 is not one of the classes"),
        ([3, 0], None, "y_true, row 0: 3 is not one of the classes"),
        ([0, 1], [1, 2, 3], "sample_weight: 2 cases were expected, as many as in y_true, found 3"),
    ],
)
def test_classes_and_weights_that_do_not_fit_are_refused_in_words(true, weight, message):
    with pytest.raises(InputError, match=message):
        ExpectedCostObjective(METRIC)(true, np.zeros((2, 3)), weight)


def test_of_numbers_read_as_text_it_is_said_which_one_comes_first():
    # A file has "0", ..., "11", which sort as 0, 1, 10, 11, 2; both libraries sort the numbers of the data.
    costs = RNG.random((12, 12)) * (1 - np.eye(12))
    metric = ElicitedMetric.from_cost_matrix(range(12), costs)
    of_file = ElicitedMetric.from_json(metric.to_json())
    with pytest.raises(InputError, match=r"say so with metric\.with_labels"):
        ExpectedCostObjective(of_file)
    said = of_file.with_labels({str(number): number for number in range(12)})
    np.testing.assert_array_equal(ExpectedCostObjective(said).cost_matrix, metric.cost_matrix)
    np.testing.assert_array_equal(ExpectedCostObjective(metric).cost_matrix, metric.cost_matrix)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosting_by_costs_costs_less_than_without(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    X, y = load_wine(return_X_y=True)
    X = X[:, [0, 10]] + np.random.default_rng(0).normal(0, 0.2, (len(y), 2))
    costs = np.array([[0, 0.05, 0.05], [0.05, 0, 0.05], [1, 1, 0]])
    metric = ElicitedMetric.from_cost_matrix([0, 1, 2], costs)
    options = {"n_estimators": 30, "max_depth": 2, "random_state": 0, "n_jobs": 1}
    quiet = {"verbosity": -1} if library == "lightgbm" else {}
    make = module.LGBMClassifier if library == "lightgbm" else module.XGBClassifier
    plain = make(**options, **quiet).fit(X, y)
    trained = make(objective=ExpectedCostObjective(metric), **options, **quiet).fit(X, y)
    margins = trained.predict(X, raw_score=True) if library == "lightgbm" else trained.predict(X, output_margin=True)
    assert metric.score(y, np.argmax(margins, axis=1)) < metric.score(y, plain.predict(X))
