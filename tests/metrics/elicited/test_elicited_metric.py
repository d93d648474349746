import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import metrics
from metrics import CostSensitiveClassifier, ElicitedMetric

COSTS = np.array([[0, 1, 0.5], [0.2, 0, 0.3], [0.1, 0.05, 0]])


def test_reading_a_metric_needs_neither_scikit_learn_nor_matplotlib(tmp_path):
    path = tmp_path / "a.metric.json"
    ElicitedMetric.from_cost_matrix(["a", "b"], [[0, 1], [0.5, 0]]).save(path)
    code = (
        "import sys, metrics; m = metrics.ElicitedMetric.load(sys.argv[1]); print(m.score(['a', 'b'], ['b', 'b']));"
        "print([m for m in ('scipy', 'sklearn', 'matplotlib') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["0.5", "[]"]


@st.composite
def judged(draw):
    """A metric with asymmetric costs, and labels and probabilities in an order of columns of their own."""
    k = draw(st.integers(2, 4))
    costs = np.array(draw(st.lists(st.floats(0.01, 1), min_size=k * k, max_size=k * k))).reshape(k, k)
    np.fill_diagonal(costs, 0)
    n = draw(st.integers(1, 12))
    true = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    proba = np.random.default_rng(draw(st.integers(0, 99))).dirichlet(np.ones(k), size=n)
    order = np.array(draw(st.permutations(range(k))))
    return ElicitedMetric.from_cost_matrix([f"c{i}" for i in range(k)], costs), true, proba, order


@settings(deadline=None)
@given(judged())
def test_scores_are_means_of_costs_whatever_the_order_of_the_columns(case):
    metric, true, proba, order = case
    names = np.array(metric.classes)
    costs = metric.cost_matrix
    predicted = proba.argmax(axis=1)
    assert metric.score(names[true], names[predicted]) == pytest.approx(costs[true, predicted].mean(), abs=1e-12)
    expected = (proba * costs[:, :].take(range(len(names)), axis=1)[true]).sum(axis=1).mean()
    assert metric.expected_score(names[true], proba) == pytest.approx(expected, abs=1e-12)
    assert metric.expected_score(names[true], proba[:, order], labels=names[order]) == pytest.approx(
        expected, abs=1e-12
    )
    decided = metric.decide(proba)
    assert [*decided] == [*metric.decide(proba[:, order], labels=names[order])]
    by_hand = (proba @ costs).argmin(axis=1)
    np.testing.assert_array_equal(decided, names[by_hand])
    concern = metric.meta_pattern_concern_score(names[true], proba)
    permuted = metric.meta_pattern_concern_score(names[true], proba[:, order], labels=names[order])
    assert concern == pytest.approx(permuted, abs=1e-12)


def test_rows_of_the_cost_matrix_are_the_truth():
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS)
    assert metric.score(["a"], ["b"]) == 1
    assert metric.score(["b"], ["a"]) == pytest.approx(0.2)
    assert metric.expected_score(["b"], [[0.5, 0.5, 0]]) == pytest.approx(0.1)
    assert metric.decide([[0.3, 0.6, 0.1]])[0] == "a"


def test_concern_uses_factors_and_class_weights():
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS)
    true, proba = np.array([0, 1, 2, 1]), np.random.default_rng(1).dirichlet(np.ones(3), size=4)
    rows = [
        metrics.meta_pattern_concern_score([t], [p], release_factors=metric.release_factors(), labels=[0, 1, 2])
        for t, p in zip(true, proba, strict=True)
    ]
    weight = np.array([*metric.class_weight.values()])[true]
    assert metric.meta_pattern_concern_score(np.array(["a", "b", "c"])[true], proba) == pytest.approx(
        np.average(rows, weights=weight)
    )
    np.testing.assert_allclose(weight, np.array([1, 0.3, 0.1])[true] * 3 / 1.4)


def test_sample_weights_count_as_repetition():
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS)
    true, predicted, times = ["a", "b", "c"], ["b", "c", "c"], [3, 1, 2]
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=3)
    repeated = np.repeat(np.arange(3), times)
    for function, second in (
        (metric.score, np.array(predicted)),
        (metric.expected_score, proba),
        (metric.meta_pattern_concern_score, proba),
    ):
        weighted = function(true, second, sample_weight=times)
        assert weighted == pytest.approx(function(np.array(true)[repeated], second[repeated]))


def test_a_model_that_never_saw_a_class():
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS)
    proba = np.array([[0.7, 0.3], [0.05, 0.95]])
    assert metric.expected_score(["b", "c"], proba, labels=["a", "c"]) == pytest.approx(
        np.mean([0.7 * 0.2 + 0.3 * 0.3, 0.05 * 0.1])
    )
    assert [*metric.decide(proba, labels=["a", "c"])] == ["a", "c"]


def test_decisions_are_elements_of_the_labels():
    metric = ElicitedMetric.from_cost_matrix([10, 20, 30], COSTS)
    assert metric.classes == ("10", "20", "30")
    proba = [[0.02, 0.03, 0.95], [0.8, 0.1, 0.1]]
    assert [*metric.decide(proba)] == [30, 10]
    assert metric.decide(proba).dtype.kind == "i"
    assert [*ElicitedMetric.from_json(metric.to_json()).decide(proba)] == ["30", "10"]
    assert [*ElicitedMetric.from_json(metric.to_json()).decide(proba, labels=[10.0, 20.0, 30.0])] == [30.0, 10.0]
    assert metric.class_weight[10] == pytest.approx(3 / 1.4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.score(["a", "x"], ["a", "b"]), "y_true, row 1: x is not one of"),
        (lambda m: m.score(["a", "b"], ["a", "x"]), "y_pred, row 1: x is not one of"),
        (lambda m: m.score(["a", "b"], ["a"]), "y_pred"),
        (lambda m: m.score([], []), "at least one"),
        (lambda m: m.expected_score(["a"], [[0.5, 0.5]]), "3 columns were expected"),
        (lambda m: m.expected_score(["a"], [[0.5, 0.5]], labels=["a", "x"]), "labels, row 1: x is not one of"),
        (lambda m: m.expected_score(["a"], [[0.5, 0.5, 0.5]]), "y_proba"),
        (lambda m: m.decide([[0.5, np.nan, 0.5]]), "y_proba"),
        (lambda m: m.decision_threshold("a"), "the metric has 3"),
        (lambda m: ElicitedMetric.from_cost_matrix(["a", "b"], COSTS), "2 x 2 numbers were expected"),
        (lambda m: ElicitedMetric.from_weights(["a", "b", "c"], [-1, 2], "lpm"), "wrong sign"),
        (lambda m: ElicitedMetric.from_weights(["a", "b", "c"], [1, 2], "dlpm"), "3 numbers were expected for 3"),
        (lambda m: ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS, population=0), "population"),
    ],
)
def test_bad_input_is_said_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call(ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS))


def test_a_population_is_a_whole_number():
    with pytest.raises(TypeError, match=r"population: a whole number was expected, found 10\.5"):
        ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS, population=10.5)
    with pytest.raises(ValueError, match="population: 1 to 1000000000000"):
        ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS, population=10**400)
    metric = ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS, population=np.int64(10))
    assert type(metric.population) is int


@pytest.mark.parametrize(
    ("details", "kind", "words"),
    [
        ({"intervalls": None}, TypeError, "intervalls: is not a detail of a metric; there are consequences, created, "),
        ({"name": 3}, TypeError, "name: a text was expected, found 3"),
        ({"created": "today"}, ValueError, "created: a time with a time zone"),
        ({"yardstick": "ab"}, ValueError, "yardstick: a pair .* found 'ab'"),
        ({"intervals": "wide"}, ValueError, "intervals: numbers were expected"),
        ({"samples": np.empty((0, 6))}, ValueError, "samples: at least one draw"),
        ({"samples": 5}, ValueError, "samples: any number x 6 numbers"),
        ({"provenance": {"procedure": "bayes"}}, TypeError, "provenance: a Provenance was expected, found {'proc"),
        ({"quality": {}}, TypeError, "quality: a Quality was expected, found {}"),
        ({"words": "patients"}, TypeError, "words: a CaseWords was expected, found 'patients'"),
        ({"consequences": ["a missed a"]}, TypeError, "consequences: a Consequence was expected"),
    ],
)
def test_details_that_make_no_sense(details, kind, words):
    with pytest.raises(kind, match=words):
        ElicitedMetric.from_cost_matrix(["a", "b", "c"], COSTS, **details)


def test_the_class_weights_of_a_file_fit_integer_labels(tmp_path):
    X, y = make_classification(n_samples=60, random_state=0)
    metric = ElicitedMetric.from_cost_matrix([0, 1], [[0, 1], [5, 0]])
    metric.save(tmp_path / "m.metric.json")
    loaded = ElicitedMetric.load(tmp_path / "m.metric.json")
    models = [LogisticRegression(class_weight=each.class_weight).fit(X, y) for each in (metric, loaded)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert not np.array_equal(models[0].coef_, LogisticRegression().fit(X, y).coef_)


@pytest.mark.parametrize("classes", [(False, True), ("0", "1"), ("false", "true")])
def test_a_metric_of_a_file_serves_estimators_of_booleans(tmp_path, classes):
    X, number = make_classification(n_samples=120, weights=[0.7], random_state=0)
    y, costs = number.astype(bool), [[0, 1], [5, 0]]
    ElicitedMetric.from_cost_matrix(classes, costs).save(tmp_path / "m.metric.json")
    metric = ElicitedMetric.load(tmp_path / "m.metric.json")

    of_file = LogisticRegression(class_weight=metric.class_weight).fit(X, y)
    np.testing.assert_array_equal(of_file.coef_, LogisticRegression(class_weight={0: 1 / 3, 1: 5 / 3}).fit(X, y).coef_)
    assert not np.array_equal(of_file.coef_, LogisticRegression().fit(X, y).coef_)
    forest = RandomForestClassifier(5, class_weight=metric.class_weight, random_state=0).fit(X, y)
    by_number = RandomForestClassifier(5, class_weight={0: 1 / 3, 1: 5 / 3}, random_state=0).fit(X, number)
    np.testing.assert_array_equal(forest.predict_proba(X), by_number.predict_proba(X))

    found = cross_val_score(of_file, X, y, scoring=metric.as_scorer(), cv=3, error_score="raise")
    expected = cross_val_score(
        LogisticRegression(class_weight={0: 1 / 3, 1: 5 / 3}),
        X,
        number,
        scoring=ElicitedMetric.from_cost_matrix([0, 1], costs).as_scorer(),
        cv=3,
    )
    np.testing.assert_array_equal(found, expected)

    proba = of_file.predict_proba(X)
    decided = metric.decide(proba, labels=of_file.classes_)
    assert decided.dtype == bool
    np.testing.assert_array_equal(decided, proba[:, 1] * 5 > proba[:, 0])
    assert metric.score(y, decided) == metric.score(y.tolist(), decided)
    by_class = (np.where(y, 5 * proba[:, 0], proba[:, 1]) / 5).mean()
    assert metric.expected_score(y, proba, labels=of_file.classes_) == pytest.approx(by_class, abs=1e-14)
    assert metric.decision_threshold(True) == pytest.approx(1 / 6)
    wrapped = CostSensitiveClassifier(LogisticRegression(), metric).fit(X, y)
    np.testing.assert_array_equal(
        wrapped.predict(X), wrapped.predict_proba(X)[:, 1] * 5 > wrapped.predict_proba(X)[:, 0]
    )


def test_one_column_of_probabilities_is_refused():
    metric = ElicitedMetric.from_cost_matrix(["yes", "no"], [[0, 1], [5, 0]])
    for call in (lambda: metric.decide([0.2, 0.9]), lambda: metric.expected_score(["yes", "no"], [0.2, 0.9])):
        with pytest.raises(ValueError, match="one row per case and one column per class"):
            call()


def test_weights_are_normalised_and_give_the_costs():
    metric = ElicitedMetric.from_weights(["a", "b", "c"], [1, 2, 5], "dlpm")
    np.testing.assert_allclose(metric.weights, [0.125, 0.25, 0.625])
    np.testing.assert_allclose(metric.cost_matrix, [[0, 0.2, 0.2], [0.4, 0, 0.4], [1, 1, 0]])
    assert metric.cost_samples is None
    drawn = ElicitedMetric.from_weights(["a", "b"], [-1, -2], "lpm", samples=[[-3, -4], [-2, -1]])
    np.testing.assert_allclose(drawn.cost_samples, [[[0, 0.75], [1, 0]], [[0, 1], [0.5, 0]]])


WINE = load_wine(return_X_y=True)
MODEL = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
RELABEL = {
    "integers": lambda y: y,
    "text": lambda y: np.array(["barbera", "barolo", "grignolino"])[y],
    "objects": lambda y: np.array(["barbera", "barolo", "grignolino"], dtype=object)[y],
    "floats": lambda y: y.astype(float),
    "series": lambda y: pd.Series(y).map({0: "barbera", 1: "barolo", 2: "grignolino"}),
}


@pytest.mark.parametrize("labels", [*RELABEL])
def test_scorer_in_cross_validation(labels):
    X, y = WINE
    y = RELABEL[labels](y)
    classes = [0, 1, 2] if labels in ("integers", "floats") else ["barbera", "barolo", "grignolino"]
    order = [2, 0, 1]
    metric = ElicitedMetric.from_cost_matrix([classes[i] for i in order], COSTS[np.ix_(order, order)])
    loaded = ElicitedMetric.from_json(metric.to_json())
    scores = cross_val_score(MODEL, X, y, scoring=loaded.as_scorer(), cv=3, error_score="raise")
    predicted = cross_val_predict(MODEL, X, y, cv=3)
    true, guess = np.searchsorted(np.unique(y), y), np.searchsorted(np.unique(y), predicted)
    costs = metric.cost_matrix[np.ix_(np.argsort(order), np.argsort(order))][true, guess]
    assert (scores <= 0).all()
    sizes = np.array([60, 59, 59])
    assert -(scores * sizes).sum() == pytest.approx(costs.sum())
    assert costs.sum() > 0


def test_scorer_chooses_in_grid_search_and_travels_to_other_processes():
    X, y = WINE
    scorer = pickle.loads(pickle.dumps(ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS).as_scorer()))
    search = GridSearchCV(MODEL, {"logisticregression__C": [1e-5, 1e-2, 1]}, scoring=scorer, cv=3, error_score="raise")
    search.fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.best_params_ == {"logisticregression__C": 1}
    assert scorer(search, X, y) == -ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS).score(y, search.predict(X))


def test_scorer_beside_others():
    X, y = WINE
    scoring = {"cost": ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS).as_scorer(), "accuracy": "accuracy"}
    results = cross_validate(MODEL, X, y, scoring=scoring, cv=3, error_score="raise")
    assert (results["test_cost"] <= 0).all()
    assert (results["test_accuracy"] > 0.5).all()


@pytest.mark.parametrize("classes", [(0, 1), ("benign", "malign"), (-1, 1)])
def test_threshold_is_tuned_towards_the_cheaper_mistake(classes):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:, :3], np.array(classes)[y]
    miss_is_bad = ElicitedMetric.from_cost_matrix(classes, [[0, 0.05], [1, 0]])
    alarm_is_bad = ElicitedMetric.from_cost_matrix(classes, [[0, 1], [0.05, 0]])
    thresholds = []
    for metric in (miss_is_bad, alarm_is_bad):
        tuned = TunedThresholdClassifierCV(MODEL, scoring=metric.as_scorer(), cv=3).fit(X, y)
        plain = MODEL.fit(X, y)
        assert metric.score(y, tuned.predict(X)) < metric.score(y, plain.predict(X))
        thresholds.append(tuned.best_threshold_)
    assert thresholds[0] < 0.5 < thresholds[1]


def test_least_cost_is_a_fixed_threshold():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:, :3], np.array(["benign", "malign"])[y]
    metric = ElicitedMetric.from_cost_matrix(["malign", "benign"], [[0, 1], [0.2, 0]])
    threshold = metric.decision_threshold("malign")
    assert threshold == pytest.approx(0.2 / 1.2)
    assert metric.decision_threshold("benign") == pytest.approx(1 - threshold)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    fixed = FixedThresholdClassifier(model, threshold=threshold, pos_label="malign").fit(X, y)
    np.testing.assert_array_equal(fixed.predict(X), metric.decide(model.predict_proba(X), labels=model.classes_))


def test_sample_weights_are_routed():
    X, y = WINE
    metric = ElicitedMetric.from_cost_matrix([0, 1, 2], COSTS)
    weight = np.random.default_rng(0).uniform(size=len(y))
    model = LogisticRegression(C=1e-4, max_iter=2000)
    with config_context(enable_metadata_routing=True):
        scorer = metric.as_scorer().set_score_request(sample_weight=True)
        routed = cross_val_score(
            model.set_fit_request(sample_weight=False), X, y, scoring=scorer, cv=3, params={"sample_weight": weight}
        )
        plain = cross_val_score(model, X, y, scoring=metric.as_scorer(), cv=3)
    fitted = model.fit(X, y)
    assert scorer(fitted, X, y, sample_weight=weight) == -metric.score(y, fitted.predict(X), sample_weight=weight)
    assert not np.allclose(routed, plain)
