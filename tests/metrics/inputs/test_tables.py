"""Frames and matrices that name their rows and columns: read by name, or refused where the names contradict."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression

from metrics import (
    CostSensitiveClassifier,
    ElicitedMetric,
    class_weighted_error_rate,
    confusion_matrix,
    cost_curve,
    cost_sensitive_decisions,
    expected_calibration_error,
    expected_misclassification_cost,
    judge,
    meta_pattern_concern_score,
    misclassification_cost,
    negative_log_likelihood,
    probability_squared_error,
)
from metrics.displays import CostDisplay
from metrics.inputs.arguments import matrix_by_name
from metrics.inputs.class_index import ClassIndex
from metrics.measures.likelihood import LogLikelihood

NAMES = ["a", "b", "c"]
ORDER = [2, 0, 1]
SHUFFLED = ["c", "a", "b"]
COSTS = np.array([[0.0, 1, 2], [10, 0, 5], [3, 7, 0]])
FACTORS = np.array([[1.0, 0.2, 0.4], [0.3, 1, 1], [1, 0.1, 1]])
RNG = np.random.default_rng(0)
PROBA = RNG.dirichlet([1, 1, 1], 30)
TRUE, PREDICTED = (np.array(NAMES)[RNG.integers(3, size=30)] for _ in range(2))
OF_PROBABILITIES = [
    negative_log_likelihood,
    probability_squared_error,
    meta_pattern_concern_score,
    expected_calibration_error,
]


def of_pandas(values, names):
    return pd.DataFrame(values, columns=names)


def of_polars(values, names):
    return pl.DataFrame({name: values[:, j] for j, name in enumerate(names)})


def shuffled(matrix):
    """Return a matrix as a frame whose rows and columns stand in two other orders."""
    return pd.DataFrame(matrix, NAMES, NAMES).iloc[ORDER, [1, 2, 0]]


@pytest.fixture(params=[of_pandas, of_polars])
def make(request):
    return request.param


@pytest.mark.parametrize("prefix", ["", "proba_"])
@pytest.mark.parametrize("score", OF_PROBABILITIES)
def test_columns_named_after_the_classes_are_never_mistaken(make, prefix, score):
    frame = make(PROBA[:, ORDER], [prefix + name for name in SHUFFLED])
    with pytest.raises(ValueError, match=r"^labels: the columns of y_proba? are named c, a, b, which is not the sort"):
        score(TRUE, frame)
    with pytest.raises(ValueError, match=r"^y_proba?: the columns are named c, a, b, but a, b, c was expected"):
        score(TRUE, frame, labels=NAMES)
    assert score(TRUE, frame, labels=SHUFFLED) == pytest.approx(score(TRUE, PROBA), abs=1e-12)
    assert score(TRUE, make(PROBA, [prefix + name for name in NAMES])) == pytest.approx(score(TRUE, PROBA), abs=1e-12)


def test_an_accumulator_refuses_columns_in_another_order(make):
    with pytest.raises(ValueError, match=r"^y_proba: the columns are named c, a, b"):
        LogLikelihood(NAMES).update(TRUE, make(PROBA, SHUFFLED))


def test_names_tell_classes_that_do_not_occur():
    some = TRUE != "b"
    frame = pd.DataFrame(PROBA[some], columns=NAMES)
    assert negative_log_likelihood(TRUE[some], frame) == negative_log_likelihood(TRUE[some], PROBA[some], labels=NAMES)
    # Without names the labels 1 and 2 are the second and the third column.
    numbers, frame = [1, 2], pd.DataFrame(PROBA[:2], columns=[1, 2, 3])
    assert negative_log_likelihood(numbers, frame) == negative_log_likelihood([0, 1], PROBA[:2])


def test_numbers_that_pandas_gives_by_itself_are_no_names():
    assert negative_log_likelihood(TRUE, pd.DataFrame(PROBA)) == negative_log_likelihood(TRUE, PROBA)
    codes = [2, 0, 1]
    assert negative_log_likelihood(codes, pd.DataFrame(PROBA[:3]), labels=codes) == negative_log_likelihood(
        codes, PROBA[:3], labels=codes
    )
    assert misclassification_cost([2, 0], [0, 0], pd.DataFrame(COSTS), labels=codes) == 0.5


def test_booleans_as_names():
    true, one = np.array([True, False, True]), np.array([0.7, 0.4, 0.9])
    frame = pd.DataFrame({True: one, False: 1 - one})
    assert negative_log_likelihood(true, frame, labels=[True, False]) == negative_log_likelihood(true, one)
    with pytest.raises(ValueError, match="True, False"):
        negative_log_likelihood(true, frame, labels=[False, True])


def test_matrices_are_read_by_name(make):
    frame, costs = make(PROBA[:, ORDER], SHUFFLED), shuffled(COSTS)
    expected = expected_misclassification_cost(TRUE, PROBA, COSTS)
    assert expected_misclassification_cost(TRUE, frame, costs, labels=SHUFFLED) == pytest.approx(expected)
    assert expected_misclassification_cost(TRUE, PROBA, costs) == expected
    assert misclassification_cost(TRUE, PREDICTED, costs) == misclassification_cost(TRUE, PREDICTED, COSTS)
    assert misclassification_cost(["a", "a"], ["b", "b"], costs) == 1
    released = meta_pattern_concern_score(TRUE, PROBA, release_factors=FACTORS)
    assert meta_pattern_concern_score(TRUE, PROBA, release_factors=shuffled(FACTORS)) == released
    decided = cost_sensitive_decisions(PROBA, COSTS, labels=NAMES)
    assert (cost_sensitive_decisions(frame, costs, labels=SHUFFLED) == decided).all()
    assert (np.array(SHUFFLED)[cost_sensitive_decisions(frame, costs)] == decided).all()


def test_a_metric_reads_costs_and_probabilities_by_name(make):
    metric = ElicitedMetric.from_cost_matrix(["b", "c", "a"], shuffled(COSTS))
    np.testing.assert_array_equal(metric.cost_matrix, COSTS[np.ix_([1, 2, 0], [1, 2, 0])] / 10)
    frame = make(PROBA[:, ORDER], SHUFFLED)
    for judged in (metric.expected_score, metric.meta_pattern_concern_score):
        assert judged(TRUE, frame) == pytest.approx(judged(TRUE, PROBA, labels=NAMES), abs=1e-12)
    assert (metric.decide(frame) == metric.decide(PROBA, labels=NAMES)).all()
    with pytest.raises(ValueError, match=r"^y_proba: the columns are named c, a, b, but a, b, c was expected"):
        metric.decide(frame, labels=NAMES)


def test_an_estimator_reads_costs_by_name():
    named = pd.DataFrame(COSTS, NAMES, NAMES).loc[SHUFFLED, SHUFFLED]
    model = CostSensitiveClassifier(LogisticRegression(), shuffled(COSTS)).fit(PROBA, TRUE)
    np.testing.assert_array_equal(model.cost_matrix_, COSTS)
    # Its estimators are given 0, 1, 2 for the sorted labels, in another order than the rows.
    with pytest.raises(ValueError, match=r"^metric: rows and columns are named c, a, b, the classes are 0, 1, 2\.$"):
        VotingClassifier([("one", CostSensitiveClassifier(LogisticRegression(), named))]).fit(PROBA, TRUE)


def test_a_cost_curve_reads_confusion_matrices_by_their_labels():
    metric = ElicitedMetric.from_cost_matrix(["c", "b", "a"], shuffled(COSTS))
    by_name, sorted_ = (
        cost_curve(metric, {"model": confusion_matrix(TRUE, PREDICTED, labels=labels)}, ("c", "b"))
        for labels in (["c", "b", "a"], None)
    )
    assert (by_name.fixed, by_name.slope) == (sorted_.fixed, sorted_.slope)


@pytest.mark.parametrize("labels", [[*"bca"], [*"zxy"], [2, 0, 1]])
def test_matrices_are_read_by_labels_or_classes_of_a_metric(labels):
    metric = ElicitedMetric.from_cost_matrix(["b", "c", "a"], COSTS).with_labels(labels)
    named = dict(zip(metric.classes, labels, strict=True))
    true, predicted = ([named[label] for label in side] for side in (TRUE, PREDICTED))
    expected = metric.score(true, predicted)  # the worst mistake costs 10 yardsticks
    counts = confusion_matrix(true, predicted, labels=labels).tolist()
    for matrix in (confusion_matrix(true, predicted), confusion_matrix(TRUE, PREDICTED), counts):
        assert CostDisplay(matrix, metric).cost == pytest.approx(expected)
        assert cost_curve(metric, {"model": matrix}, labels[::2]).cost(2) == pytest.approx([10 * expected])
        judged = judge(metric, true, {"model": PROBA}, practice=matrix, draws=0, population=1)
        assert judged.named("present practice").cost_per_population == pytest.approx(10 * expected)
    with pytest.raises(ValueError, match=r"^practice: rows and columns are named p, q, r, the classes are "):
        judge(metric, true, {"model": PROBA}, practice=pd.DataFrame(counts, [*"pqr"], [*"pqr"]), draws=0)


def test_a_matrix_named_after_other_classes_is_refused():
    named = pd.DataFrame(COSTS, [*"CAB"], [*"CAB"])
    for use in (
        lambda: ElicitedMetric.from_cost_matrix(NAMES, named),
        lambda: misclassification_cost(TRUE, PREDICTED, named),
        lambda: expected_misclassification_cost(TRUE, PROBA, named, labels=NAMES),
    ):
        with pytest.raises(
            ValueError, match=r"^cost_matrix: rows and columns are named C, A, B, the classes are a, b, c"
        ):
            use()
    positions = np.unique(TRUE, return_inverse=True)[1]
    by_position = expected_misclassification_cost(positions, PROBA, COSTS)
    assert expected_misclassification_cost(positions, PROBA, named) == by_position


def test_names_may_have_those_of_the_classes_in_them():
    true, predicted = [f"true_{name}" for name in SHUFFLED], [f"called {name}" for name in "bca"]
    named = pd.DataFrame(shuffled(COSTS).to_numpy(), true, predicted)
    assert misclassification_cost(TRUE, PREDICTED, named) == misclassification_cost(TRUE, PREDICTED, COSTS)
    np.testing.assert_array_equal(ElicitedMetric.from_cost_matrix(NAMES, named).cost_matrix, COSTS / 10)
    assert matrix_by_name(named, ClassIndex(["a", "b", "called a"]), "costs") is named


def test_half_named_matrices():
    named = pd.DataFrame(COSTS, columns=SHUFFLED)
    with pytest.raises(ValueError, match=r"^costs: rows and columns must both be named .* a, b, c\.$"):
        matrix_by_name(named, ClassIndex(NAMES), "costs")
    assert matrix_by_name(named, ClassIndex(SHUFFLED), "costs") is named
    assert matrix_by_name(COSTS, ClassIndex(NAMES), "costs") is COSTS


def test_a_series_of_class_weights_is_read_by_its_labels():
    weights = pd.Series({"c": 3, "a": 1, "b": 2})
    assert negative_log_likelihood(TRUE, PROBA, class_weight=weights) == negative_log_likelihood(
        TRUE, PROBA, class_weight=[1, 2, 3]
    )
    assert class_weighted_error_rate(TRUE, PREDICTED, weights) == class_weighted_error_rate(TRUE, PREDICTED, [1, 2, 3])
    assert class_weighted_error_rate(TRUE, PREDICTED, pd.Series([1, 2, 3])) == class_weighted_error_rate(
        TRUE, PREDICTED, [1, 2, 3]
    )


@pytest.mark.parametrize(
    "names",
    [
        *(["b", "x", "c"], ["x", "y", "a"], ["proba_c", "proba_x", "proba_y"]),
        *(["P(b)", "P(a)", "P(c)"], ["p_a", "p_c", "p_b"], ["c, score", "a, score", "b, score"]),
    ],
)
def test_a_class_that_some_column_is_named_after_is_in_its_place(make, names):
    metric, table = ElicitedMetric.from_cost_matrix(NAMES, COSTS), make(PROBA, names)
    for score in (*OF_PROBABILITIES, metric.expected_score):
        with pytest.raises(ValueError, match="but a, b, c was expected; bring both into one order"):
            score(TRUE, table)
    for others in (["a", "x", "c"], ["P(a)", "P(b)", "P(c)"], ["b or c", "a or c", "a or b"], ["p b", "p b.2", "p a"]):
        assert metric.decide(make(PROBA, others)).tolist() == metric.decide(PROBA).tolist()


def test_a_metric_in_place_of_a_cost_matrix_is_refused_in_words():
    metric = ElicitedMetric.from_cost_matrix(NAMES, COSTS)
    for call in (
        lambda: misclassification_cost(TRUE, PREDICTED, metric),
        lambda: expected_misclassification_cost(TRUE, PROBA, metric),
        lambda: cost_sensitive_decisions(PROBA, metric, labels=NAMES),
    ):
        with pytest.raises(ValueError, match="cost_matrix: numbers were expected"):
            call()
