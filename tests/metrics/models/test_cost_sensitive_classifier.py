import doctest

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import metrics.models.cost_sensitive_classifier as module
from metrics import CostSensitiveClassifier, ElicitedMetric

COSTS = np.array([[0, 1, 0.5], [0.2, 0, 0.3], [0.9, 0.9, 0]])
X_WINE, Y_WINE = load_wine(return_X_y=True)
WINE = X_WINE[:, [0, 6, 9]], Y_WINE


@parametrize_with_checks(
    [CostSensitiveClassifier(LogisticRegression()), CostSensitiveClassifier(DecisionTreeClassifier(random_state=0))]
)
def test_scikit_learn_takes_it_for_a_classifier(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("names", "order"), [([0, 1, 2], [0, 1, 2]), (["b", "a", "c"], [2, 0, 1]), ([1.0, 5.0, 3.0], [1, 2, 0])]
)
def test_it_predicts_the_least_expected_cost(names, order):
    X, y = WINE
    X, y = X[:, :1], np.array(names)[y]
    metric = ElicitedMetric.from_cost_matrix([names[i] for i in order], COSTS[np.ix_(order, order)])
    model = CostSensitiveClassifier(GaussianNB(), ElicitedMetric.from_json(metric.to_json())).fit(X, y)
    inner = GaussianNB().fit(X, y)
    by_name = [names.index(label) for label in model.classes_]
    np.testing.assert_allclose(model.cost_matrix_, COSTS[np.ix_(by_name, by_name)])
    expected = inner.predict_proba(X) @ COSTS[np.ix_(by_name, by_name)]
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmin(axis=1)])
    assert (model.predict(X) != inner.predict(X)).any()
    assert metric.score(y, model.predict(X)) < metric.score(y, inner.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), inner.predict_log_proba(X))


def test_without_costs_it_predicts_the_most_probable_class():
    X, y = WINE
    np.testing.assert_array_equal(
        CostSensitiveClassifier(GaussianNB()).fit(X, y).predict(X), GaussianNB().fit(X, y).predict(X)
    )


def test_a_plain_cost_matrix_is_in_the_order_of_the_sorted_classes():
    X, y = WINE
    y = np.array(["z", "m", "a"])[y]
    model = CostSensitiveClassifier(GaussianNB(), COSTS).fit(X, y)
    assert [*model.classes_] == ["a", "m", "z"]
    np.testing.assert_array_equal(model.cost_matrix_, COSTS)


def test_it_is_chosen_by_and_scored_with_the_metric():
    X, y = WINE
    metric = ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS)
    plain = LogisticRegression(C=1e-3)
    search = GridSearchCV(
        CostSensitiveClassifier(plain, metric),
        {"estimator__C": [1e-4, 1e-3], "metric": [None, metric]},
        scoring=metric.as_scorer(),
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_["metric"].name == metric.name
    assert search.best_score_ > cross_val_score(plain, X, y, scoring=metric.as_scorer(), cv=3).mean()


def test_data_frames_keep_their_names():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = CostSensitiveClassifier(GaussianNB()).fit(X, pd.Series(y.map({0: "a", 1: "b", 2: "c"})))
    assert [*model.feature_names_in_] == [*X.columns]
    assert set(model.predict(X)) == {"a", "b", "c"}


def binary():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :3], np.array(["malign", "benign"])[y]


def test_it_is_a_threshold_at_the_ratio_of_the_costs():
    X, y = binary()
    metric = ElicitedMetric.from_cost_matrix(["malign", "benign"], [[0, 1], [0.2, 0]])
    inner = LogisticRegression(max_iter=1000)
    fixed = FixedThresholdClassifier(inner, threshold=metric.decision_threshold("malign"), pos_label="malign")
    decided = CostSensitiveClassifier(inner, metric).fit(X, y).predict(X)
    np.testing.assert_array_equal(decided, fixed.fit(X, y).predict(X))


def test_thresholds_and_costs_can_be_nested():
    X, y = binary()
    metric = ElicitedMetric.from_cost_matrix(["malign", "benign"], [[0, 1], [0.2, 0]])
    inner = LogisticRegression(max_iter=1000)
    wrapped = CostSensitiveClassifier(inner, metric)
    tuned = TunedThresholdClassifierCV(wrapped, scoring=metric.as_scorer(), cv=3).fit(X, y)
    alone = TunedThresholdClassifierCV(inner, scoring=metric.as_scorer(), cv=3).fit(X, y)
    assert tuned.best_threshold_ == alone.best_threshold_
    around = CostSensitiveClassifier(FixedThresholdClassifier(inner, threshold=0.9, pos_label="malign"), metric)
    np.testing.assert_array_equal(around.fit(X, y).predict(X), wrapped.fit(X, y).predict(X))
    tuned_cost, plain_cost = metric.score(y, alone.predict(X)), metric.score(y, inner.fit(X, y).predict(X))
    assert tuned_cost < plain_cost
    assert metric.score(y, wrapped.predict(X)) < plain_cost


def test_weights_reach_the_estimator():
    X, y = WINE
    weight = np.random.default_rng(0).uniform(size=len(y))
    direct = LogisticRegression(C=1e-3).fit(X, y, sample_weight=weight)
    model = CostSensitiveClassifier(LogisticRegression(C=1e-3)).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.estimator_.coef_, direct.coef_)
    with config_context(enable_metadata_routing=True):
        asked = LogisticRegression(C=1e-3).set_fit_request(sample_weight=True)
        routed = CostSensitiveClassifier(asked).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(routed.estimator_.coef_, direct.coef_)
        scorer = ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS).as_scorer().set_score_request(sample_weight=True)
        scores = cross_val_score(
            CostSensitiveClassifier(asked), X, y, scoring=scorer, cv=3, params={"sample_weight": weight}
        )
    assert np.isfinite(scores).all()


def test_a_fitted_estimator_can_be_kept():
    X, y = WINE
    fitted = GaussianNB().fit(X, y)
    model = CostSensitiveClassifier(FrozenEstimator(fitted), COSTS).fit(X[:5], y[:5])
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))


def test_a_clone_has_the_same_costs():
    metric = ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS)
    copied = clone(CostSensitiveClassifier(GaussianNB(), metric))
    np.testing.assert_array_equal(copied.metric.cost_matrix, metric.cost_matrix)


def test_an_estimator_that_has_probabilities_only_once_it_is_fitted():
    X, y = WINE
    stacked = StackingClassifier([("a", GaussianNB())], cv=2)
    assert not hasattr(stacked, "predict_proba")
    assert CostSensitiveClassifier(stacked, COSTS).fit(X, y).predict_proba(X).shape == (len(X), 3)


def test_what_does_not_fit_is_said_in_words():
    X, y = WINE
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba; wrap it in CalibratedClassifierCV"):
        CostSensitiveClassifier(LinearSVC()).fit(X, y)
    CostSensitiveClassifier(CalibratedClassifierCV(LinearSVC(), cv=2), COSTS).fit(X, y)
    with pytest.raises(ValueError, match="y, row 2: 2 is not one of the classes"):
        CostSensitiveClassifier(GaussianNB(), ElicitedMetric.from_cost_matrix([0, 1], [[0, 1], [1, 0]])).fit(X, y)
    with pytest.raises(ValueError, match="metric: 3 x 3 numbers were expected"):
        CostSensitiveClassifier(GaussianNB(), [[0, 1], [1, 0]]).fit(X, y)
    with pytest.raises(ValueError, match="diagonal"):
        CostSensitiveClassifier(GaussianNB(), np.ones((3, 3))).fit(X, y)


def test_the_example_in_the_documentation():
    assert doctest.testmod(module).failed == 0
