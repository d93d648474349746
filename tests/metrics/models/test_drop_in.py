"""An elicited metric goes where other tools take costs, scorers and labels of any kind."""

import ast
import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from metrics import CostsCountTwice, CostSensitiveClassifier, ElicitedMetric, InputError, Provenance, judge

X, CODES = load_breast_cancer(return_X_y=True)
X, CODES = X[:120, :3], CODES[:120]
# Missing a malignant tumour, class 0, costs four times as much as a false alarm.
METRIC = ElicitedMetric.from_cost_matrix(
    ["malignant", "benign"],
    [[0, 4], [1, 0]],
    samples=[[-0.97, -0.24], [-0.96, -0.28]] / np.linalg.norm([[-0.97, -0.24], [-0.96, -0.28]], axis=1, keepdims=True),
    provenance=Provenance("bayes", questions=20, expert="A"),
)
LABELS = {"strings": ("malignant", "benign"), "integers": (0, 1), "booleans": (False, True)}


def encoded(metric: ElicitedMetric) -> ElicitedMetric:
    """Return the metric for estimators that hand 0, ..., k-1 in sorted order to what is inside them."""
    return metric.with_labels(dict(zip(sorted(metric.labels), range(len(metric.labels)), strict=True)))


def decided(model, metric):
    return CostSensitiveClassifier(model, metric)


def estimators(metric: ElicitedMetric) -> dict[str, object]:
    plain = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "forest": RandomForestClassifier(5, random_state=0),
        "extra trees": ExtraTreesClassifier(5, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
        "histograms": HistGradientBoostingClassifier(max_iter=5, random_state=0),
        "ada": AdaBoostClassifier(n_estimators=5, random_state=0),
        "bagging": BaggingClassifier(n_estimators=3, random_state=0),
        "neighbours": KNeighborsClassifier(15),
        "linear discriminant": LinearDiscriminantAnalysis(),
        "quadratic discriminant": QuadraticDiscriminantAnalysis(),
        "lightgbm": LGBMClassifier(n_estimators=5, verbosity=-1, n_jobs=1),
        "machine": CalibratedClassifierCV(make_pipeline(StandardScaler(), LinearSVC()), cv=2),
    }
    inside = [("a", decided(GaussianNB(), encoded(metric))), ("b", decided(LogisticRegression(), encoded(metric)))]
    made = {name: decided(model, metric) for name, model in plain.items()}
    made["voting"] = VotingClassifier(inside)
    made["stacking"] = StackingClassifier(inside, final_estimator=GaussianNB(), cv=2)
    return made


def negated_cost(y, predicted, ill):
    return -float(np.mean(np.where(y == predicted, 0.0, np.where(y == ill, 1.0, 0.25))))


@pytest.mark.parametrize("kind", LABELS)
def test_sixteen_estimators_with_labels_of_every_kind(kind):
    metric = METRIC.with_labels(LABELS[kind])
    ill = LABELS[kind][0]
    y = np.array(LABELS[kind])[CODES]
    for name, model in estimators(metric).items():
        predicted = model.fit(X, y).predict(X)
        assert set(predicted.tolist()) <= set(LABELS[kind]), name
        assert metric.as_scorer()(model, X, y) == pytest.approx(negated_cost(y, predicted, ill)), name
        if name != "voting":  # by majority, without probabilities
            ill_is = model.predict_proba(X)[:, [*model.classes_].index(ill)]
            expected = -float(np.mean(np.where(y == ill, 1 - ill_is, ill_is / 4)))
            assert metric.as_scorer(response_method="predict_proba")(model, X, y) == pytest.approx(expected), name
        if isinstance(model, CostSensitiveClassifier):
            assert model.score(X, y) == pytest.approx(negated_cost(y, predicted, ill))
            assert (predicted == ill).sum() >= (model.estimator_.predict(X) == ill).sum()
        else:
            assert all(set(part.predict(X)) <= {0, 1} for part in model.estimators_)


@pytest.mark.parametrize("kind", LABELS)
def test_xgboost_which_takes_codes_alone_votes_on_labels_of_every_kind(kind):
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    metric = METRIC.with_labels(LABELS[kind])
    y = np.array(LABELS[kind])[CODES]
    trees = decided(xgboost.XGBClassifier(n_estimators=5, n_jobs=1), encoded(metric))
    predicted = VotingClassifier([("trees", trees)]).fit(X, y).predict(X)
    assert metric.score(y, predicted) == pytest.approx(-negated_cost(y, predicted, LABELS[kind][0]))
    assert metric.score(y, predicted) < metric.score(y, np.repeat(y[CODES == 1][:1], len(y)))


@pytest.mark.parametrize("kind", ["strings", "integers"])
def test_members_of_an_ensemble_that_encodes_labels_are_told_how_to_take_them(kind):
    labels = {"strings": ("malignant", "benign"), "integers": (7, 10)}[kind]
    metric, y = METRIC.with_labels(labels), np.array(labels)[CODES]
    with pytest.raises(
        InputError, match=r"0 is not one of the classes .* give their members metric.with_labels"
    ) as told:
        VotingClassifier([("a", CostSensitiveClassifier(GaussianNB(), metric))]).fit(X, y)
    advice = ast.literal_eval(re.search(r"with_labels\((.*)\)", str(told.value))[1])
    assert metric.with_labels(advice).labels == encoded(metric).labels
    with pytest.raises(InputError) as untold:  # these labels are not 0, 1
        CostSensitiveClassifier(GaussianNB(), metric).fit(X, CODES + 1)
    assert "with_labels" not in str(untold.value)


def test_new_labels_keep_draws_words_and_provenance():
    relabelled = METRIC.with_labels({"benign": 7, "malignant": 3})
    assert relabelled.labels == (3, 7)
    assert relabelled.classes == METRIC.classes
    assert relabelled.provenance is METRIC.provenance
    np.testing.assert_array_equal(relabelled.cost_samples, METRIC.cost_samples)
    assert relabelled.class_weight == {3: 1.6, 7: 0.4}
    assert relabelled.decide([[0.3, 0.7], [0.1, 0.9]]).tolist() == [3, 7]
    assert relabelled.decision_threshold(3) == pytest.approx(0.2)
    for names in ({7: "b", 3: "m"}, {"benign": "b", "malignant": "m"}):
        assert relabelled.with_labels(names).labels == ("m", "b"), "by its labels, or by the names of its classes"
    assert METRIC.with_labels(["m", "b"]).score(["m", "b"], ["b", "m"]) == pytest.approx(0.625)
    proba = {"model": [[0.3, 0.7], [0.1, 0.9], [0.8, 0.2]]}
    own = judge(relabelled, [3, 7, 3], proba, draws=0)
    named = judge(METRIC, ["malignant", "benign", "malignant"], proba, draws=0)
    assert [one.cost_per_population for one in own.policies] == [one.cost_per_population for one in named.policies]
    # Columns that are named after the classes are still found by name.
    frame = pd.DataFrame({"benign": [0.7], "malignant": [0.3]})
    assert relabelled.decide(frame).tolist() == [3]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"malignant": 1}, "class 'benign' has none"),
        ({"malignant": 1, "naevus": 0}, "naevus is not one of the classes"),
        ({"malignant": 1, "benign": "1"}, "'1' stands for two classes"),
        ([0, 1, 2], "2 labels were expected, one per class, found 3"),
        ("mb", "a sequence of labels was expected, found 'mb'"),
    ],
)
def test_labels_that_do_not_fit_are_said_in_words(labels, words):
    with pytest.raises(InputError, match=words):
        METRIC.with_labels(labels)


def test_metrics_are_equal_where_they_say_the_same(tmp_path):
    METRIC.save(tmp_path / "m.metric.json")
    first, second = (ElicitedMetric.load(tmp_path / "m.metric.json") for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first == METRIC
    assert ElicitedMetric.from_cost_matrix([0, 1], [[0, 4], [1, 0]]) == ElicitedMetric.from_cost_matrix(
        ["0", "1"], [[0, 4], [1, 0]]
    )
    for other in (
        METRIC.with_labels([0, 1]),
        dataclasses.replace(METRIC, samples=None),
        dataclasses.replace(METRIC, population=100),
        ElicitedMetric.from_cost_matrix(["malignant", "benign"], [[0, 1], [4, 0]]),
        "metric",
    ):
        assert other != METRIC
    amounts = [ElicitedMetric.from_weights(["alpha", "beta"], [2, b], "dlpm", kind="relevance") for b in (1, 1, 3)]
    assert [one == amounts[0] for one in (*amounts, METRIC)] == [True, True, False, False]


def test_a_search_without_scoring_chooses_by_cost():
    model = CostSensitiveClassifier(DecisionTreeClassifier(random_state=0), METRIC.with_labels([0, 1]))
    search = GridSearchCV(model, {"estimator__max_depth": [1, 2, 3]}, cv=2).fit(X, CODES)
    chosen = GridSearchCV(
        model, {"estimator__max_depth": [1, 2, 3]}, cv=2, scoring=METRIC.with_labels([0, 1]).as_scorer()
    )
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], chosen.fit(X, CODES).cv_results_["mean_test_score"]
    )
    assert search.best_score_ <= 0


def test_weights_of_cases_reach_the_scorer_on_probabilities():
    weight = np.where(CODES == 0, 3.0, 1.0)
    scorer = METRIC.with_labels([0, 1]).as_scorer(response_method="predict_proba")
    model = GaussianNB().fit(X, CODES)
    repeated = np.repeat(np.arange(len(CODES)), weight.astype(int))
    assert scorer(model, X, CODES, sample_weight=weight) == pytest.approx(scorer(model, X[repeated], CODES[repeated]))
    with config_context(enable_metadata_routing=True):
        routed = METRIC.with_labels([0, 1]).as_scorer(response_method="predict_proba")
        scores = cross_validate(
            GaussianNB().set_fit_request(sample_weight=False),
            X,
            CODES,
            cv=2,
            scoring={"cost": routed.set_score_request(sample_weight=True)},
            params={"sample_weight": weight},
        )
    plain = cross_val_score(GaussianNB(), X, CODES, cv=2, scoring=scorer)
    assert (scores["test_cost"] != plain).all()
    with pytest.raises(InputError, match="predict or predict_proba was expected"):
        METRIC.as_scorer(response_method="decision_function")


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (LogisticRegression(class_weight={0: 4, 1: 1}), "class_weight={0: 4, 1: 1}"),
        (make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")), "class_weight='balanced'"),
    ],
)
def test_costs_that_count_twice_are_seen(model, named):
    with pytest.warns(CostsCountTwice, match=re.escape(named)):
        CostSensitiveClassifier(model, METRIC.with_labels([0, 1])).fit(X, CODES)


def test_a_calibrated_estimator_may_be_trained_with_weights():
    weighed = CalibratedClassifierCV(LogisticRegression(class_weight="balanced"), cv=2)
    for model in (weighed, make_pipeline(StandardScaler(), weighed)):
        CostSensitiveClassifier(model, METRIC.with_labels([0, 1])).fit(X, CODES)
